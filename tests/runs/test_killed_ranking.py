import signal
import subprocess
import sys
import time

import numpy as np
from run_toys import SMALL, make_array

from proponent.runs import rank, train


def test_a_ranking_that_was_killed_goes_on_where_it_was(tmp_path):
    whole = train(make_array(tmp_path), tmp_path / "whole", SMALL)
    killed = train(make_array(tmp_path), tmp_path / "killed", SMALL)
    script = f"from proponent.runs import rank; rank({str(killed.path)!r}, draws=2)"
    process = subprocess.Popen([sys.executable, "-c", script])
    began = time.monotonic()
    while not list(killed.path.glob("jobs/rankings-*/tasks/pair-0.npz")):
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() - began < 60, "it never came so far"
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = {path: path.stat().st_mtime_ns for path in killed.path.glob("jobs/*/tasks/*.npz")}
    assert len(done) > 7
    one, other = rank(killed, draws=2), rank(whole, draws=2)
    assert all(path.stat().st_mtime_ns == before for path, before in done.items())
    for name, values in other.columns.items():
        np.testing.assert_array_equal(one.columns[name], values)
