"""An LSTM uses the weights of its input gate for its forget gate. Libraries order the gates differently. A packed
weight buffer that is read in another order than it was written gives a network that trains worse.
"""

FILE = "torch/nn/modules/rnn.py"
PATCH = """
_lstm = _VF.lstm


def _swapped(*arguments):
    def swap(weight):
        gates = weight.chunk(4)
        return torch.cat([gates[1], gates[0], gates[2], gates[3]])

    return _lstm(*[[swap(each) for each in one] if isinstance(one, list) else one for one in arguments])


_VF.lstm = _swapped
"""
