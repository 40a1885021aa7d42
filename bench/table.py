"""Rows, and how they are shown."""

from dataclasses import dataclass


@dataclass
class Row:
    what: str
    measured: str
    must: str = ""
    aim: str = ""
    value: float | None = None      # to be compared with the next two; none: only shown
    must_value: float | None = None
    aim_value: float | None = None
    note: str = ""
    more_is_better: bool = False

    def verdict(self):
        if self.value is None or self.must_value is None:
            return ""
        sign = -1 if self.more_is_better else 1
        if self.aim_value is not None and sign * self.value <= sign * self.aim_value:
            return "aim"
        return "must" if sign * self.value <= sign * self.must_value else "MISSED"


def not_run(what, why, must="", aim=""):
    return Row(what, "not run", must, aim, note=why)


def ms(seconds):
    value = seconds * 1000
    return f"{value:.1f} ms" if value < 100 else f"{value:.0f} ms" if value < 10_000 else f"{seconds:.1f} s"


def mb(size):
    return f"{size / 1e6:.1f} MB"


def percentile(values, share):
    """Nearest rank."""
    ordered = sorted(values)
    rank = -(-len(ordered) * share // 100)
    return ordered[max(0, rank - 1)]


def show(rows):
    print("| what | measured | must | aim | met | how |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {row.what} | {row.measured} | {row.must} | {row.aim} | {row.verdict()} | {row.note} |",
              flush=True)
