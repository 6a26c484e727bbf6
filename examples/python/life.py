"""Conway's game of life on a torus: a glider, sixty generations."""
import hologram as hg
import numpy as np


@hg.kernel
def generation(now: hg.In[hg.u8, "h", "w"], after: hg.Out[hg.u8, "h", "w"]):
    j, i = hg.grid(2)
    h, w = now.shape
    around = 0
    for dj in range(-1, 2):
        for di in range(-1, 2):
            if dj != 0 or di != 0:
                around += hg.i64(now[(j + dj) % h, (i + di) % w])
    after[j, i] = 1 if around == 3 or (around == 2 and now[j, i] == 1) else 0


board = np.zeros((12, 24), np.uint8)
board[1, 2] = board[2, 3] = board[3, 1] = board[3, 2] = board[3, 3] = 1
other = np.empty_like(board)
for _ in range(30):
    generation[12, 24](board, other)
    generation[12, 24](other, board)
print("\n".join("".join(".#"[cell] for cell in row) for row in board))
