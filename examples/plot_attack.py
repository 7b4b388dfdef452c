"""Attack your own release before somebody else does."""

# %% Two releases of the same people: k alone, and with diverse diagnoses.
import mahrem as mh

patients = mh.demo_patients(1_000)
settings = {"quasi": ["age", "sex", "zip"], "sensitive": "diagnosis", "rest": "drop", "html": False}
plain = mh.anonymize(patients, k=5, **settings)
diverse = mh.anonymize(patients, k=5, l=3, t=0.4, **settings)

# %% The red team has the originals: it tries what somebody could who knows age, sex and ZIP code of a person.
bars = []
for name, release in {"k=5": plain, "k=5, l=3, t=0.4": diverse}.items():
    found = mh.attack(
        release.table, original=patients, quasi=["age", "sex", "zip"], sensitive="diagnosis", seed=1
    )
    for one in found.findings:
        if one.attack in {"linkage", "homogeneity", "skewness"}:
            print(f"{name}: {one.attack} {one.rate:.1%}, by chance {one.baseline:.1%}")
            known = one.details.get("known")
            who = one.attack if known is None else f"{one.attack}, {known} columns"
            who += ", not quite sure" if one.details.get("noise") else ""
            bars.append({"panel": name, "name": who, "series": "succeeds", "value": one.rate})
            bars.append({"panel": name, "name": who, "series": "by chance", "value": one.baseline})

# %% The same as a picture: what an attack gains is what lies beyond chance.
from mahrem.report import grouped_svg

grouped_svg(bars, title="Attacks beside chance", amount="share of people")
