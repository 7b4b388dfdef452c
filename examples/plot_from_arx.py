"""Coming from ARX: the same hierarchies, the same lattice, every node judged."""

# %% Hierarchies as ARX writes them: one line for each value, coarser from left to right.
import tempfile
from pathlib import Path

import mahrem as mh

patients = mh.demo_patients(600).select("age", "sex", "diagnosis")
ages = {
    str(age): [f"{age // 10 * 10}-{age // 10 * 10 + 9}", "<50" if age < 50 else ">=50"] for age in range(100)
}
file = Path(tempfile.mkdtemp(prefix="mahrem-example-")) / "age.csv"
file.write_text("".join(f"{age};{ten};{half};*\n" for age, (ten, half) in ages.items()), encoding="utf-8")
settings = {"quasi": ["age", "sex"], "sensitive": "diagnosis", "hierarchy": {"age": file}, "k": 5, "l": 3}

# %% The lattice of levels: what holds, what is best, and why a node fails.
lattice = mh.lattice(patients, **settings)
print(f"{len(lattice)} nodes, {len(lattice.holding())} hold; best: {lattice.best().levels}")
for reason in lattice.why([0, 0]):
    print("why not the finest:", reason)

# %% The release of the best node, as ARX' Flash finds it, then rows that can be shown more finely.
release = mh.anonymize(patients, **settings, method="flash", html=False)
local = mh.anonymize(patients, **settings, method="flash", local=True, html=False)
for name, one in {"full domain": release, "with local recoding": local}.items():
    print(name, f"{one.report['utility']['gcp']:.3f} of precision lost")

# %% Every node that holds, and what it loses.
from mahrem.report import grouped_svg

grouped_svg(
    [
        {"panel": "nodes that hold", "name": str(node.levels), "series": "loss", "value": node.loss}
        for node in lattice.holding()
    ],
    title="Loss of every node that holds",
    amount="loss",
)
