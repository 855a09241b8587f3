// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "agents/client/cluster.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

class ProfileTest : public QObject {
  Q_OBJECT

  QTemporaryDir home;

 private slots:
  void init() { qputenv("TESSERA_HOME", home.path().toUtf8()); }

  void homeFollowsTheEnvironment() {
    QCOMPARE(TesseraHome(), home.path().toStdString());
    qunsetenv("TESSERA_HOME");
    qputenv("XDG_DATA_HOME", "/data");
    QCOMPARE(TesseraHome(), std::string("/data/tessera"));
    qunsetenv("XDG_DATA_HOME");
    qputenv("HOME", "/home/me");
    QCOMPARE(TesseraHome(), std::string("/home/me/.local/share/tessera"));
  }

  void aProfileComesBackAsItWas() {
    const Profile profile{
        "local",  "tcp://127.0.0.1:40001",   "tcp://127.0.0.1:40002", "key", "/keys/ä",
        "/tmp/x", R"({"cores":2,"cpu":"x"})"};
    QVERIFY(SaveProfile(profile));
    QVERIFY(SaveProfile(profile));  // again, over the old one
    for (const std::string& where : {std::string("local"), ProfilePath("local")}) {
      const auto loaded = LoadProfile(where);
      QVERIFY(loaded);
      QCOMPARE(loaded->name, profile.name);
      QCOMPARE(loaded->registrar_endpoint, profile.registrar_endpoint);
      QCOMPARE(loaded->events_endpoint, profile.events_endpoint);
      QCOMPARE(loaded->server_key, profile.server_key);
      QCOMPARE(loaded->key_file, profile.key_file);
      QCOMPARE(loaded->directory, profile.directory);
      QCOMPARE(loaded->calibration, profile.calibration);
    }
    struct stat info {};
    QCOMPARE(::stat((home.path().toStdString() + "/profiles").c_str(), &info), 0);
    QCOMPARE(info.st_mode & 0777U, 0700U);
  }

  void aProfileMayHaveAnotherNameThanItsCluster() {
    Profile profile{"lab-view", "tcp://10.0.0.1:7400", "tcp://10.0.0.1:7401", "key", "/k", ""};
    QCOMPARE(profile.cluster_name(), std::string("lab-view"));
    profile.cluster = "lab";
    QVERIFY(SaveProfile(profile));
    const auto loaded = LoadProfile("lab-view");
    QVERIFY(loaded);
    QCOMPARE(loaded->cluster_name(), std::string("lab"));
    profile.cluster = "No Name";
    QVERIFY(!SaveProfile(profile));
  }

  void aCalibrationThatIsNoObjectIsNotSaved() {
    Profile profile{"local", "r", "e", "k", "f", ""};
    for (const char* text : {"[1]", "{\"cores\":", "fast"}) {
      profile.calibration = text;
      const auto saved = SaveProfile(profile);
      QVERIFY(!saved);
      QCOMPARE(saved.error(), InvalidArgument("profile 'local': calibration is not a JSON object"));
    }
  }

  void aMissingProfileIsNamed() {
    const auto loaded = LoadProfile("nowhere");
    QVERIFY(!loaded);
    QCOMPARE(loaded.error(), NotFound("no profile 'nowhere': no file " + ProfilePath("nowhere")));
    QCOMPARE(LoadProfile("/no/such.json").error(), NotFound("no profile file /no/such.json"));
  }

  void namesAreChecked_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"", "-a", "A", "a.b", "a b"}) QTest::newRow(name) << name;
    QTest::newRow("64 characters") << QString(64, 'a');
  }
  void namesAreChecked() {
    QFETCH(QString, name);
    Profile profile;
    profile.name = name.toStdString();
    const auto saved = SaveProfile(profile);
    QVERIFY(!saved);
    QCOMPARE(saved.error(),
             InvalidArgument("profile name '" + profile.name + "' is not [a-z0-9][a-z0-9-]{0,62}"));
    QCOMPARE(LoadProfile(profile.name).error().code, ErrorCode::kInvalidArgument);
  }

  void badFilesAreNamed_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("message");
    const QString good =
        R"("name":"a","registrar":"r","events":"e","server_key":"s","key_file":"k")";
    QTest::newRow("unknown key") << "{" + good + R"(,"colour":"red"})"
                                 << ": unknown key 'colour'";
    QTest::newRow("calibration as text") << "{" + good + R"(,"calibration":"fast"})"
                                         << ": key 'calibration' is not an object";
    QTest::newRow("missing key") << R"({"name":"a"})"
                                 << ": key 'registrar' is missing";
    QTest::newRow("not text") << R"({"name":7})"
                              << ": key 'name' is not a string";
    QTest::newRow("not an object") << "[]"
                                   << ": not a JSON object";
    QTest::newRow("not JSON") << "{\n\"name\": nonsense\n}"
                              << ":2: not JSON";
    QTest::newRow("empty") << ""
                           << ":1: not JSON";
  }
  void badFilesAreNamed() {
    QFETCH(QString, text);
    QFETCH(QString, message);
    const QString path = home.filePath("bad.json");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text.toUtf8());
    file.close();
    const auto loaded = LoadProfile(path.toStdString());
    QVERIFY(!loaded);
    QCOMPARE(loaded.error().code, ErrorCode::kInvalidArgument);
    QCOMPARE(QString::fromStdString(loaded.error().message), path + message);
  }
};
TESSERA_TEST_APPLESS(ProfileTest)
#include "profile_test.moc"
