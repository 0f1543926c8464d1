from .learn import Learned as Learned, learn_weights as learn_weights
from .weights_file import write_weights as write_weights
