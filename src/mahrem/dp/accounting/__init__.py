"""What private work costs: events, the distributions behind them, and how they add up.

An event says what happened (noise of which kind and size, how often); a cost is what that may tell about a
person. Nothing here touches data or a ledger.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.dp.accounting._accounting import Cost as Cost
    from mahrem.dp.accounting._accounting import Spend as Spend
    from mahrem.dp.accounting._accounting import composed_cost as composed_cost
    from mahrem.dp.accounting._accounting import epsilon_of as epsilon_of
    from mahrem.dp.accounting._accounting import plain_sum as plain_sum
    from mahrem.dp.accounting._accounting import proves as proves
    from mahrem.dp.accounting._calibrate import discrete_gaussian_delta as discrete_gaussian_delta
    from mahrem.dp.accounting._calibrate import discrete_gaussian_sigma as discrete_gaussian_sigma
    from mahrem.dp.accounting._calibrate import gaussian_delta as gaussian_delta
    from mahrem.dp.accounting._calibrate import gaussian_epsilon as gaussian_epsilon
    from mahrem.dp.accounting._calibrate import gaussian_multiplier as gaussian_multiplier
    from mahrem.dp.accounting._calibrate import laplace_scale as laplace_scale
    from mahrem.dp.accounting._calibrate import rho_for as rho_for
    from mahrem.dp.accounting._calibrate import zcdp_delta as zcdp_delta
    from mahrem.dp.accounting._calibrate import zcdp_epsilon as zcdp_epsilon
    from mahrem.dp.accounting._composition import total_cost as total_cost
    from mahrem.dp.accounting._events import Approximate as Approximate
    from mahrem.dp.accounting._events import Composed as Composed
    from mahrem.dp.accounting._events import DiscreteGaussian as DiscreteGaussian
    from mahrem.dp.accounting._events import DiscreteLaplace as DiscreteLaplace
    from mahrem.dp.accounting._events import Event as Event
    from mahrem.dp.accounting._events import Foreign as Foreign
    from mahrem.dp.accounting._events import Gaussian as Gaussian
    from mahrem.dp.accounting._events import Laplace as Laplace
    from mahrem.dp.accounting._events import Pure as Pure
    from mahrem.dp.accounting._events import Repeated as Repeated
    from mahrem.dp.accounting._events import event_from_dict as event_from_dict
    from mahrem.dp.accounting._events import event_to_dict as event_to_dict
    from mahrem.dp.accounting._events import foreign as foreign
    from mahrem.dp.accounting._events import promise_event as promise_event
    from mahrem.dp.accounting._events import pure_epsilon as pure_epsilon
    from mahrem.dp.accounting._meaning import AttackerGain as AttackerGain
    from mahrem.dp.accounting._meaning import composed_gain as composed_gain
    from mahrem.dp.accounting._meaning import epsilon_for_advantage as epsilon_for_advantage
    from mahrem.dp.accounting._meaning import promised_gain as promised_gain
    from mahrem.dp.accounting._sampled_counts import STEPS as STEPS
    from mahrem.dp.accounting._sampled_counts import largest_rate as largest_rate
    from mahrem.dp.accounting._sampled_counts import sampled_counts_delta as sampled_counts_delta
    from mahrem.dp.accounting._sampled_counts import sampled_counts_threshold as sampled_counts_threshold
    from mahrem.dp.accounting._sampled_counts import sparing_rate as sparing_rate
else:
    __getattr__, __dir__, __all__ = offered(__name__)
