// SPDX-License-Identifier: Apache-2.0
#include "agents/fuse/mount_point.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;

class MountPointTest : public QObject {
  Q_OBJECT
 private slots:
  void mountinfoIsRead() {
    const auto mounts = ParseMountInfo(
        "22 1 259:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
        "36 22 0:45 / /a\\040b\\134c rw,nosuid - fuse.tessera tessera ro,user_id=0\n"
        "37 22 0:46 / /two rw shared:2 master:3 propagate_from:4 - tmpfs none rw\n");
    QCOMPARE(mounts.size(), 3U);
    QVERIFY((mounts[0] == MountedAt{"259:1", "/", "ext4", "/dev/root", "rw"}));
    QVERIFY((mounts[1] == MountedAt{"0:45", "/a b\\c", "fuse.tessera", "tessera", "ro,user_id=0"}));
    QVERIFY((mounts[2] == MountedAt{"0:46", "/two", "tmpfs", "none", "rw"}));
  }

  void aClusterHasAMountOfItsName() {
    const std::string source = MountSource("a key");
    QVERIFY(source.starts_with("tessera-"));
    QVERIFY(source != MountSource("another key"));
    QCOMPARE(source.find_first_of(", \\#"), std::string::npos);
    const auto mine = [&](const char* path, const char* options) {
      return MountedAt{"0:45", path, "fuse.tessera", source, options};
    };
    const auto of = [&](std::vector<MountedAt> mounts) { return MountOf(mounts, source, 1000); };
    QVERIFY(!of({}));
    QCOMPARE(of({mine("/a", "ro,user_id=1000,group_id=0")}), std::optional<std::string>("/a"));
    QVERIFY(!of({mine("/a", "ro,user_id=100,group_id=1000")}));
    QVERIFY(!of({mine("/a", "ro,user_id=10000")}));
    QCOMPARE(of({mine("/a", "ro,user_id=0,allow_other")}), std::optional<std::string>("/a"));
    QCOMPARE(of({mine("/a", "user_id=1000"), mine("/b", "user_id=1000")}),
             std::optional<std::string>("/b"));
    // Another file system was mounted over it.
    QVERIFY(!of({mine("/a", "user_id=1000"), {"0:9", "/a", "tmpfs", "none", "rw"}}));
    QVERIFY(!of({{"0:45", "/a", "fuse.tessera", MountSource("another key"), "user_id=1000"}}));
    QVERIFY(!of({{"0:45", "/a", "ext4", source, "user_id=1000"}}));
  }

  void whatIsNoMountinfoIsLeftOut_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("nothing") << QByteArray();
    QTest::newRow("empty lines") << QByteArray("\n\n");
    QTest::newRow("a few words") << QByteArray("22 1 259:1 / / rw");
    QTest::newRow("no dash") << QByteArray("22 1 0:1 / /a rw a b c d e f");
    QTest::newRow("nothing behind the dash") << QByteArray("22 1 0:1 / /a rw shared:1 x y -");
    QTest::newRow("bytes") << QByteArray("\xff\xfe\0 \\ \\0 - - - - - -", 20);
  }
  void whatIsNoMountinfoIsLeftOut() {
    QFETCH(QByteArray, text);
    QCOMPARE(ParseMountInfo(text.toStdString()).size(), 0U);
  }

  void theLastMountAtAPathIsSeen() {
    const std::vector<MountedAt> mounts = ParseMountInfo(
        "22 1 259:1 / / rw - ext4 /dev/root rw\n"
        "36 22 0:45 / /a rw - tmpfs none rw\n"
        "37 36 0:46 / /a rw - fuse.tessera tessera ro\n"
        "38 22 0:47 / /a/b rw - tmpfs none rw\n");
    QCOMPARE(SeenAt(mounts, "/")->device, std::string("259:1"));
    QCOMPARE(SeenAt(mounts, "/a")->device, std::string("0:46"));
    QCOMPARE(SeenAt(mounts, "/a/b")->device, std::string("0:47"));
    QVERIFY(!SeenAt(mounts, "/b"));
    QVERIFY(!SeenAt({}, "/"));
  }

  // A plain chroot lists no mount at all, so the test asks only for those that the system lists.
  void mountsOfThisProcessAreFound() {
    QFile listed(QStringLiteral("/proc/self/mountinfo"));
    QVERIFY(listed.open(QIODevice::ReadOnly));
    const auto mounts = ParseMountInfo(listed.readAll().toStdString());
    for (const MountedAt& mount : mounts) {
      const auto found = FindMount(mount.path);
      VERIFY_OK(found);
      QVERIFY2(found->has_value(), mount.path.c_str());
    }
    VERIFY_OK(FindMount("/no/such/folder"));
    QVERIFY(!FindMount("/no/such/folder")->has_value());
  }

  void pathsAreAbsoluteAndWithoutLinks() {
    const QTemporaryDir folder;
    const std::string base = folder.path().toStdString();
    QVERIFY(QDir(folder.path()).mkdir(QStringLiteral("real")));
    QVERIFY(QFile::link(folder.filePath(QStringLiteral("real")),
                        folder.filePath(QStringLiteral("link"))));
    const auto expected = MountPath(base + "/real");
    VERIFY_OK(expected);
    QCOMPARE(*MountPath(base + "/link"), *expected);
    QCOMPARE(*MountPath(base + "/real/"), *expected);
    QCOMPARE(*MountPath(base + "/./link/../real"), *expected);
    QCOMPARE(*MountPath("/"), std::string("/"));
    VERIFY_ERROR(MountPath(base + "/none"), ErrorCode::kNotFound, "none");
    VERIFY_ERROR(MountPath(base + "/none/deeper"), ErrorCode::kNotFound, "deeper");
  }

  void onlyAnEmptyFolderIsAMountPoint() {
    const QTemporaryDir folder;
    const std::string path = MountPath(folder.path().toStdString()).value_or("");
    VERIFY_OK(CheckMountPoint(path));
    const auto stale = RemoveStaleMounts(path);
    VERIFY_OK(stale);
    QVERIFY(!*stale);
    QFile file(folder.filePath(QStringLiteral("file")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    VERIFY_ERROR(CheckMountPoint(path), ErrorCode::kFailedPrecondition, "is not empty");
    VERIFY_ERROR(CheckMountPoint(path + "/file"), ErrorCode::kInvalidArgument, "is not a folder");
    VERIFY_ERROR(CheckMountPoint("/proc"), ErrorCode::kAlreadyExists, "of type proc");
    VERIFY_ERROR(Unmount(path, false), ErrorCode::kNotFound, "nothing of Tessera");
    VERIFY_ERROR(Unmount("/proc", true), ErrorCode::kNotFound, "nothing of Tessera");
  }
};

TESSERA_TEST_APPLESS(MountPointTest)
#include "mount_point_test.moc"
