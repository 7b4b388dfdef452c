"""What requests and answers hold: bodies of the API, made from specs of settings, and fields of forms.

A body refuses what its setting refuses, in the same words. Nothing here knows where a project lies or what
a job does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.web.bodies._bodies import (
        Adopted,
        CompareWish,
        FolderFiles,
        HierarchyTree,
        HierarchyWish,
        LedgerWish,
        NewProject,
        Question,
        SourceDatabase,
        SourcePath,
    )
    from mahrem.web.bodies._fields import FormField, form_fields, label_of, read_field
    from mahrem.web.bodies._masking_bodies import (
        PUBLISHING,
        WISHES,
        GeneralizeWish,
        LatticeWish,
        MaskVerb,
        PerturbWish,
        RiskWish,
        SuppressWish,
        settings_of_mask,
    )
    from mahrem.web.bodies._models import Decision, ErrorDetail, Job, MadeRelease, Project, SourceFacts
    from mahrem.web.bodies._release_bodies import (
        DECLARED,
        ROLES,
        USUAL_K,
        ColumnChoice,
        Columns,
        ReadingChoice,
        ReleasePromises,
        settings_of_column,
        settings_of_step,
    )
    from mahrem.web.bodies._setting_bodies import Strict, must_be
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "DECLARED",
    "PUBLISHING",
    "ROLES",
    "USUAL_K",
    "WISHES",
    "Adopted",
    "ColumnChoice",
    "Columns",
    "CompareWish",
    "Decision",
    "ErrorDetail",
    "FolderFiles",
    "FormField",
    "GeneralizeWish",
    "HierarchyTree",
    "HierarchyWish",
    "Job",
    "LatticeWish",
    "LedgerWish",
    "MadeRelease",
    "MaskVerb",
    "NewProject",
    "PerturbWish",
    "Project",
    "Question",
    "ReadingChoice",
    "ReleasePromises",
    "RiskWish",
    "SourceDatabase",
    "SourceFacts",
    "SourcePath",
    "Strict",
    "SuppressWish",
    "form_fields",
    "label_of",
    "must_be",
    "read_field",
    "settings_of_column",
    "settings_of_mask",
    "settings_of_step",
]
