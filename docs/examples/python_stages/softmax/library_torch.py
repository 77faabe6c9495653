# @title PyTorch
import torch


def solve(x, y, R, C):
    torch.softmax(torch.from_numpy(x), dim=1, out=torch.from_numpy(y))
