"""The first release: anonymise a frame, look at what was lost, and check it again from the outside."""

# %% Fictional patients: age, sex, ZIP code, admission date, diagnosis, cost …
import mahrem as mh

patients = mh.demo_patients(1_000)

# %% At least five rows share every age, sex and ZIP code; each such group shows at least three diagnoses.
release = mh.anonymize(
    patients, quasi=["age", "sex", "zip"], sensitive="diagnosis", rest="drop", k=5, l=3, html=False
)
print(release.table.head(5))

# %% What it cost, and what risk is left.
utility, risk = release.report["utility"], release.report["risk"]
print(f"{utility['classes']} classes, {utility['gcp']:.1%} of precision lost, risk {risk['highest']:.2f}")

# %% The check anybody can repeat on the published table alone.
audit = mh.audit(release.table, quasi=["age", "sex", "zip"], sensitive="diagnosis", k=5, l=3)
print("holds:", audit.holds)

# %% How many rows hide in how large a crowd. (In a notebook `release.plot()` draws it with Altair.)
from mahrem.report import grouped_svg

sizes = [
    {
        "panel": "rows",
        "name": f"{one['from']} to {one['to']}",
        "series": "rows in classes of this size",
        "value": one["rows"],
    }
    for one in release.report["class_sizes"]
]
grouped_svg(sizes, title="Rows in classes of each size", amount="rows")
