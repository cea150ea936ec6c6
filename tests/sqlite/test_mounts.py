"""On what kind of file system a path lies."""

import pytest

from dsh_session_persistence_sqlite.mounts import network_file_system

TABLE = r"""
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /home rw,relatime shared:2 - nfs4 server:/home rw,vers=4.2
31 30 254:1 / /home/local rw,relatime - xfs /dev/vdb rw
32 22 0:41 / /mnt/with\040space rw - cifs //server/share rw
33 22 0:42 / /mnt/ssh rw - fuse.sshfs me@server:/ rw
34 22 0:43 / /mnt/over rw - ext4 /dev/vdc rw
35 34 0:44 / /mnt/over rw - ceph server:/ rw
36 22 0:45 / /mnt/fuse rw - fuse.bindfs /data rw
a line that is none
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/var/x.db", None),
        ("/home/me/x.db", "nfs4"),
        ("/homely/x.db", None),
        ("/home/local/x.db", None),
        ("/mnt/with space/x.db", "cifs"),
        ("/mnt/ssh/x.db", "fuse.sshfs"),
        ("/mnt/over/x.db", "ceph"),
        ("/mnt/fuse/x.db", None),
    ],
)
def test_the_innermost_mount_decides(tmp_path, path, expected):
    """A local disk below a network mount is local, and the other way round."""
    table = tmp_path / "mountinfo"
    table.write_text(TABLE)
    assert network_file_system(path, table) == expected


def test_without_a_table_of_mounts_nothing_is_assumed(tmp_path):
    """On a system that does not tell, the caller's choice stands."""
    assert network_file_system("/x", tmp_path / "missing") is None
