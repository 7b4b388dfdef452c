"""Three hospitals learn one list of rules; rows stay where they are, and the server sees sums only."""

# %% Fictional patients of three hospitals; they agreed on how columns are cut.
import polars as pl

import mahrem as mh
from mahrem.federated import ExactSettings, LocalGrid, RulesSilo, learn_exact
from mahrem.federated.sums import MaskedSum, SumTerms, hide_client
from mahrem.learning.rules import CbaSettings

patients = mh.demo_patients(1_500).select(
    "sex",
    "smoker",
    pl.col("insurance").fill_null("none"),
    age=pl.when(pl.col("age") < 40).then(pl.lit("young")).otherwise(pl.lit("old")),
    costly=pl.when(pl.col("cost") > 4_000).then(pl.lit("yes")).otherwise(pl.lit("no")),
)
hospitals = {"north": patients[:500], "south": patients[500:1_000], "west": patients[1_000:]}

# %% Every count leaves a hospital under a mask; masks cancel in the sum of all three.
clients = {
    name: hide_client(name, RulesSilo(table, target="costly"), SumTerms())
    for name, table in hospitals.items()
}
columns = [name for name in patients.columns if name != "costly"]
learnt = learn_exact(
    LocalGrid(clients),
    columns,
    ExactSettings(cba=CbaSettings(support=0.02, confidence=0.5)),
    adder=MaskedSum(),
)
print(learnt.model)

# %% Rule for rule what one place with all rows would have learnt.
print("exact:", learnt.exact, "from", learnt.nodes)
