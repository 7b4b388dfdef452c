"""What requests and answers hold: bodies of the API, made from specs of settings, and fields of forms.

A body refuses what its setting refuses, in the same words. Nothing here knows where a project lies or what
a job does.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.web.bodies._bodies import Adopted as Adopted
    from mahrem.web.bodies._bodies import CompareWish as CompareWish
    from mahrem.web.bodies._bodies import FolderFiles as FolderFiles
    from mahrem.web.bodies._bodies import HierarchyTree as HierarchyTree
    from mahrem.web.bodies._bodies import HierarchyWish as HierarchyWish
    from mahrem.web.bodies._bodies import LedgerWish as LedgerWish
    from mahrem.web.bodies._bodies import NewProject as NewProject
    from mahrem.web.bodies._bodies import Question as Question
    from mahrem.web.bodies._bodies import SourceDatabase as SourceDatabase
    from mahrem.web.bodies._bodies import SourcePath as SourcePath
    from mahrem.web.bodies._fields import FormField as FormField
    from mahrem.web.bodies._fields import form_fields as form_fields
    from mahrem.web.bodies._fields import label_of as label_of
    from mahrem.web.bodies._fields import read_field as read_field
    from mahrem.web.bodies._masking_bodies import PUBLISHING as PUBLISHING
    from mahrem.web.bodies._masking_bodies import WISHES as WISHES
    from mahrem.web.bodies._masking_bodies import GeneralizeWish as GeneralizeWish
    from mahrem.web.bodies._masking_bodies import LatticeWish as LatticeWish
    from mahrem.web.bodies._masking_bodies import MaskVerb as MaskVerb
    from mahrem.web.bodies._masking_bodies import PerturbWish as PerturbWish
    from mahrem.web.bodies._masking_bodies import RiskWish as RiskWish
    from mahrem.web.bodies._masking_bodies import SuppressWish as SuppressWish
    from mahrem.web.bodies._masking_bodies import settings_of_mask as settings_of_mask
    from mahrem.web.bodies._models import Decision as Decision
    from mahrem.web.bodies._models import ErrorDetail as ErrorDetail
    from mahrem.web.bodies._models import Job as Job
    from mahrem.web.bodies._models import MadeRelease as MadeRelease
    from mahrem.web.bodies._models import Project as Project
    from mahrem.web.bodies._models import SourceFacts as SourceFacts
    from mahrem.web.bodies._release_bodies import DECLARED as DECLARED
    from mahrem.web.bodies._release_bodies import ROLES as ROLES
    from mahrem.web.bodies._release_bodies import ColumnChoice as ColumnChoice
    from mahrem.web.bodies._release_bodies import Columns as Columns
    from mahrem.web.bodies._release_bodies import ReadingChoice as ReadingChoice
    from mahrem.web.bodies._release_bodies import ReleasePromises as ReleasePromises
    from mahrem.web.bodies._release_bodies import settings_of_column as settings_of_column
    from mahrem.web.bodies._setting_bodies import Strict as Strict
    from mahrem.web.bodies._setting_bodies import must_be as must_be
    from mahrem.web.bodies._steps import USUAL_K as USUAL_K
    from mahrem.web.bodies._steps import settings_of_step as settings_of_step
else:
    __getattr__, __dir__, __all__ = offered(__name__)
