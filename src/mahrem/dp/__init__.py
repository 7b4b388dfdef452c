"""Differential privacy."""
from mahrem.dp._relation import *
from mahrem.dp._sensitivity import *
from mahrem.dp._mechanisms import *
from mahrem.dp._calibrate import *
