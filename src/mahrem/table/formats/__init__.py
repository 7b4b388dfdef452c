"""Files of each format: how they are opened, written and read back, one module each.

Nobody imports from here: an entry of :data:`mahrem.table.FORMATS` names its module, which is loaded when a
file of that format is at hand. It stands above ``reading``, whose sources it gives.
"""

__all__: list[str] = []
