"""A hospital whose patients come more than once: the promise counts people, not rows."""

# %% Fictional admissions: some patients have several.
import mahrem as mh

visits = mh.demo_patients(1_200).select("patient_id", "age", "sex", "zip", "diagnosis")
people = visits["patient_id"].n_unique()
print(f"{visits.height} admissions of {people} people")

# %% Whoever is in a class with five rows may still be alone in it, if all five are hers. With a subject,
# every class holds five different people, and shows three diagnoses of different people.
release = mh.anonymize(
    visits, subject="patient_id", quasi=["age", "sex", "zip"], sensitive="diagnosis", k=5, l=3, html=False
)
release

# %% The same classes judged by somebody who counts rows.
rows = mh.anonymize(
    visits.drop("patient_id"), quasi=["age", "sex", "zip"], sensitive="diagnosis", k=5, l=3, html=False
)
for name, one in {"people": release, "rows": rows}.items():
    print(name, f"{one.report['utility']['gcp']:.3f} of precision lost")
