"""The same release on a Spark cluster: here the cores of this machine, elsewhere ``master="spark://host:7077"``."""

# %% Fictional patients as a Parquet file; a cluster would read ``hdfs://…`` or a table of its catalogue.
import tempfile
from pathlib import Path

import mahrem as mh

folder = Path(tempfile.mkdtemp(prefix="mahrem-example-"))
mh.demo_patients(1_000).select("age", "zip", "diagnosis").write_parquet(folder / "visits.parquet")

# %% What is to be promised; nothing here knows where it will run.
policy = {"quasi": ["age", "zip"], "sensitive": {"diagnosis": {"l": 3}}, "k": 10, "format": "parquet"}

# %% One machine, then Spark. Strict Mondrian makes the same classes on both.
local = mh.anonymize(folder / "visits.parquet", policy=policy, output=folder / "local", html=False)
print("one machine:", local.report["utility"]["published_classes"], "classes")
try:
    spark = mh.anonymize(
        folder / "visits.parquet", policy=policy, engine="spark", output=folder / "spark", html=False
    )
    print("Spark:", spark.report["utility"]["published_classes"], "classes,", spark.report["engine"])
except mh.MahremError as error:  # no Java, or no PySpark
    print(error)

# %% Anybody can check the parts that the workers wrote, with or without Spark.
for name in ("local", "spark"):
    if (folder / name).is_dir():
        print(name, "holds:", mh.audit(folder / name).holds)
