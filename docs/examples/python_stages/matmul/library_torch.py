# @title PyTorch
import torch


def solve(a, b, c, M, N, K):
    torch.matmul(torch.from_numpy(a).float(), torch.from_numpy(b).float(), out=torch.from_numpy(c))
