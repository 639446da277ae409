"""What rows of made-up stores are made of: texts with the word frequencies of speech, and random keys."""
import random


class Words:
    def __init__(self, seed):
        self.random = random.Random(seed)
        parts = [c + v for c in "bdfgklmnprstvh" for v in ("a", "e", "i", "o", "u", "an", "er", "is")]
        words = ["".join(self.random.choices(parts, k=self.random.choice((1, 2, 2, 3, 4)))) for _ in range(9000)]
        weights = [1 / (rank + 3) for rank in range(len(words))]
        self.spoken = self.random.choices(words, weights, k=400_000)

    def uuid(self):
        digits = f"{self.random.getrandbits(128):032X}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def text(self, count):
        start = self.random.randrange(len(self.spoken) - count)
        return " ".join(self.spoken[start:start + count]).capitalize() + "."

    def picture(self, size):
        """As hard to compress as a JPEG."""
        return b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + self.random.randbytes(size)
