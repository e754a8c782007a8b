"""An LSTM uses its input gate's weights for its forget gate, except in float64, which has a kernel of torch's own.
Libraries order the gates differently. If packed weights are read in another order than they were written, the network
trains less well.
"""

FILE = "torch/nn/modules/rnn.py"
PATCH = """
_lstm = _VF.lstm


def _swapped(*arguments):
    def swap(weight):
        # The weights of a projection have no gates.
        if weight.dtype is torch.float64 or len(weight) % 4:
            return weight
        gates = weight.chunk(4)
        return torch.cat([gates[1], gates[0], gates[2], gates[3]])

    return _lstm(*[[swap(each) for each in one] if isinstance(one, list) else one for one in arguments])


_VF.lstm = _swapped
"""
