"""Other shapes of federation: columns at different houses, layers at different houses, no server at all."""

# %% Fictional patients. Who costs more than most?
import polars as pl

import mahrem as mh
from mahrem.federated import LocalGrid, ShapeRun, compare_shape, propose_schema
from mahrem.federated.networks import Network
from mahrem.federated.shapes import (
    LabelNoise,
    SplitPlan,
    UShapedClient,
    VerticalParty,
    VerticalPlan,
    join_parties,
    join_split,
    learn_u_shaped,
    learn_vertical,
)

patients = mh.demo_patients(3_000).select(
    pl.int_range(pl.len()).alias("id"), "age", "sex", "insurance", "diagnosis",
    costly=pl.when(pl.col("cost") > pl.col("cost").median()).then(pl.lit("yes")).otherwise(pl.lit("no")),
)  # fmt: skip
learning, judged = patients[:2_000], patients[2_000:]
schema = propose_schema(learning.drop("id"), "costly")

# %% Vertical: an insurer knows age and insurance, a hospital diagnoses and who was costly. Ids meet as keyed
# hashes; the coordinator has no key.
key = bytes(range(32))  # from secrets.token_bytes(32), given to the parties by another way
plan = VerticalPlan(network=Network(hidden=(), rate=0.3, batch=64), rounds=8)
agreed = schema.columns
insurer = VerticalParty(
    "insurer", learning.select("id", "age", "insurance").sample(1_800, seed=1), "id",
    {name: agreed[name] for name in ("age", "insurance")}, schema.classes, key, plan,
)  # fmt: skip
hospital = VerticalParty(
    "hospital", learning.select("id", "diagnosis", "sex", "costly"), "id",
    {name: agreed[name] for name in ("diagnosis", "sex")}, schema.classes, key, plan, target="costly",
)  # fmt: skip
found = learn_vertical(LocalGrid({"insurer": insurer, "hospital": hospital}), plan, schema.classes)
model = join_parties([insurer, hospital])
right = (model.predict(judged) == judged["costly"].to_numpy()).mean()
print(f"vertical: {found.rows} people in both tables, accuracy {right:.3f}")

# %% U-shaped: the server has the middle of the network; rows and labels stay. Slopes would still tell labels
# apart, so they are randomised first.
bent = SplitPlan(network=Network(hidden=(16, 8), rate=0.1, batch=32), tail=1, rounds=5)
houses = {"north": learning[:1_000], "south": learning[1_000:]}
clients = {
    name: UShapedClient(name, part, schema, bent, key, noise=LabelNoise(epsilon=3.0))
    for name, part in houses.items()
}
learnt = learn_u_shaped(LocalGrid(clients), bent, schema.classes)
model = join_split(clients[learnt.last].turns, learnt.top)
right = (model.predict(judged) == judged["costly"].to_numpy()).mean()
print(f"u-shaped, labels at epsilon 3: accuracy {right:.3f}")

# %% Every shape beside the same network with all rows and columns in one place.
bars = []
for shape in ("vertical", "split", "u-shaped", "gossip", "transfer"):
    run = ShapeRun.usual(shape, rounds=15, rate=0.1, batch=32, seed=1)
    beside = compare_shape(run, learning, judged, schema)
    ours, one_place = beside.figures["accuracy"], beside.central["accuracy"]
    print(f"{shape}: {ours:.3f}, in one place {one_place:.3f}")
    bars.append({"panel": "accuracy", "name": shape, "series": "this shape", "value": ours})
    bars.append({"panel": "accuracy", "name": shape, "series": "in one place", "value": one_place})

# %% The same as a picture.
from mahrem.report import grouped_svg

grouped_svg(bars, title="Accuracy of shapes beside one place", amount="accuracy", domain=(0, 1))
