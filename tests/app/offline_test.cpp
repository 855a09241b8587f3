// SPDX-License-Identifier: Apache-2.0
/// \file
/// What tesseractl does without a cluster: catalogue, rule sets, plans between two meshes.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "tests/folders.h"
#include "tests/support/test_main.h"

class OfflineTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_home = std::make_unique<QTemporaryDir>();
    QVERIFY(m_home->isValid());
  }

  void catalogueListsModelsWithTheirSizes() {
    const QJsonArray models = object({"models", "list", "--json"})["models"].toArray();
    QCOMPARE(models.size(), 13);
    const QJsonObject shown = object({"models", "show", "llama-3-8b", "--json"});
    QCOMPARE(shown["parameters"].toInteger(), 8'030'261'248);
    QCOMPARE(shown["rules"].toString(), QStringLiteral("llama"));
    QVERIFY(run({"models", "list"})
                .output.contains("llama-3-405b         405.9 B     126  756.0 GiB  llama"));
    const Outcome unknown = run({"models", "show", "llama-9"});
    QCOMPARE(unknown.code, 1);
    QVERIFY(unknown.errors.contains("no model 'llama-9'; there are "));
  }

  void everyModelPassesItsOwnRules() {
    for (const QJsonValue& model :
         QJsonDocument::fromJson(run({"models", "list", "--json"}).output).array()) {
      const QString name = model.toObject()["name"].toString();
      if (name.startsWith(QLatin1String("deepseek"))) continue;  // slow; catalogue_test has it
      const QJsonObject report = object({"rules", "check", "--model", name, "--json"});
      QVERIFY2(report["ok"].toBool(), qPrintable(name));
    }
  }

  void checkShowsPatternsRulesAndCuts() {
    const QJsonObject report =
        object({"rules", "check", "llama", "--model", "llama-3-8b", "--mesh", "tp=16", "--json"});
    const QJsonObject key = find(report, "model.layers.{layer}.self_attn.k_proj.weight");
    QCOMPARE(key["tensors"].toInt(), 32);
    QCOMPARE(key["rule"]["match"].toString(),
             QStringLiteral("**layers.{layer}.self_attn.k_proj.*"));
    QCOMPARE(key["cut"].toString(), QStringLiteral("dim 0 over tp by 8 kv heads"));
    QCOMPARE(key["stage"].toString(), QStringLiteral("layer"));
    QCOMPARE(key["piece_bytes"].toInteger(), 128LL * 4096 * 2);  // one head of 128 rows, bf16
    const QByteArray text = run({"rules", "check", "--model", "llama-3-8b"}).output;
    QVERIFY(text.contains("all 291 tensors of llama-3-8b have a rule of llama"));
  }

  void lessonsAreListedAndChecked() {
    const QJsonArray lessons = object({"lesson", "list", "--json"})["lessons"].toArray();
    QCOMPARE(lessons.size(), 14);
    QCOMPARE(lessons[2].toObject()["name"].toString(), QStringLiteral("what-moves"));
    QVERIFY(run({"lesson", "list", "--names"}).output.startsWith("shards\n"));
    const Outcome good = run({"lesson", "check", "what-moves", "zero"});
    QCOMPARE(good.code, 0);
    QVERIFY2(good.output.startsWith("what-moves: 6 steps"), good.output.constData());
    const QString file = m_home->filePath("mine.json");
    write(file, R"({"title": "Mine", "summary": "A lesson.",
  "job": {"model": "gpt-nano", "mesh": "dp=2"},
  "steps": [
    {"text": "Look.", "actions": [{"plan": {"mesh": "tp=3"}}]}]})");
    const Outcome wrong = run({"lesson", "check", file});
    QCOMPARE(wrong.code, 2);
    QVERIFY2(wrong.errors.startsWith(file.toUtf8() + ":4:"), wrong.errors.constData());
    QVERIFY2(wrong.errors.contains("not divisible by tp = 3"), wrong.errors.constData());
    const QJsonObject json =
        QJsonDocument::fromJson(run({"lesson", "check", "zero", file, "--json"}).output).object();
    QVERIFY(json["lessons"][0]["problem"].isNull());
    QVERIFY(json["lessons"][1]["problem"].toString().contains(QStringLiteral("tp = 3")));
    const Outcome unknown = run({"lesson", "check", "no-such"});
    QCOMPARE(unknown.code, 2);
    QVERIFY(unknown.errors.contains("no lesson 'no-such'; there are shards"));
  }

  void checkNamesWhatNoRuleKnows() {
    const QString rules = m_home->filePath("rules.json");
    write(rules, R"({"rules": [
  {"match": "transformer.wte.weight", "cut": "vocab", "stage": "first"},
  {"match": "transformer.h.{layer}.**", "cut": "replicate"},
  {"match": "nothing.*", "cut": "replicate"}
]})");
    const Outcome text = run({"rules", "check", rules, "--model", "gpt2"});
    QCOMPARE(text.code, 1);
    QVERIFY2(text.errors.contains("no rule of " + rules.toUtf8() +
                                  " matches tensor 'transformer.wpe.weight'"),
             text.errors.constData());
    QVERIFY2(text.errors.contains(rules.toUtf8() + ":4: 'nothing.*' matches no tensor"),
             text.errors.constData());
    const Outcome json = run({"rules", "check", rules, "--model", "gpt2", "--json"});
    QCOMPARE(json.code, 1);
    const QJsonObject report = QJsonDocument::fromJson(json.output).object();
    QVERIFY(!report["ok"].toBool());
    QVERIFY(find(report, "transformer.wpe.weight")["rule"].isNull());
    QCOMPARE(report["problems"].toArray().size(), 4);  // wpe, two of ln_f, the rule
    // A mesh that the rules allow and the sizes do not.
    const Outcome uneven =
        run({"rules", "check", "llama", "--model", "llama-3-8b", "--mesh", "tp=3"});
    QCOMPARE(uneven.code, 1);
    QVERIFY2(uneven.errors.contains("not divisible by axis tp = 3"), uneven.errors.constData());
  }

  void listedRulesCanBeShownAndUsedAsAFile() {
    const QByteArray text = run({"rules", "show", "bert"}).output;
    const QString file = m_home->filePath("mine.json");
    write(file, text);
    QCOMPARE(run({"rules", "check", file, "--model", "bert-large"}).code, 0);
    const QString table = m_home->filePath("bert.json");
    write(table, run({"models", "show", "bert-large", "--table"}).output);
    QCOMPARE(run({"rules", "check", "bert", "--tensors", table}).code, 0);
  }

  void planHasItsKeysAndMovesWhatItMust() {
    const QJsonObject plan = object({"plan", "--model", "gpt2", "--from", "tp=4,dp=2 on 2x4",
                                     "--to", "tp=4,dp=3", "--topology", "3x4", "--json"});
    for (const char* key :
         {"model", "from", "to", "hash", "bytes", "volume_bound_bytes", "busiest_port",
          "bandwidths", "idle", "peak_bytes", "single_source", "transfer_estimate_seconds"})
      QVERIFY2(plan.contains(QLatin1String(key)), key);
    const qint64 state = plan["state_bytes"].toInteger();
    QCOMPARE(state, 124'439'808LL * 12);  // f32 parameters and two moments
    // A third replica: all of the state comes to node 2, over the network, from both others; what
    // is replicated over tp comes into the host more than once.
    const QJsonObject bytes = plan["bytes"].toObject();
    QCOMPARE(bytes["host"].toInteger(), 0);
    QVERIFY(bytes["network"].toInteger() >= state);
    QCOMPARE(bytes["network"].toInteger(), plan["volume_bound_bytes"].toInteger());
    QCOMPARE(plan["network_bound_bytes"].toInteger(), state);
    QCOMPARE(plan["busiest_port"]["port"].toString(), QStringLiteral("n2 in"));
    QCOMPARE(plan["busiest_port"]["bytes"], plan["busiest_port"]["bound_bytes"]);
    QCOMPARE(plan["peak_bytes"].toObject().size(), 12);
    // Nothing changes: nothing moves.
    const QJsonObject same =
        object({"plan", "--model", "gpt2", "--from", "tp=2", "--to", "tp=2", "--json"});
    QCOMPARE(same["volume_bound_bytes"].toInteger(), 0);
    QCOMPARE(same["busiest_port"]["port"].toString(), QString());
  }

  void planIsTheSameEachTime() {
    const QStringList words{"plan",   "--model",        "mixtral-8x7b", "--zero",         "on",
                            "--from", "ep=4,tp=2,dp=2", "--to",         "ep=2,tp=4,dp=2", "--json"};
    const QByteArray once = run(words).output;
    QVERIFY(!once.isEmpty());
    QCOMPARE(run(words).output, once);
  }

  void lostNodesAreLeft() {
    const QJsonObject plan = object({"plan", "--model", "gpt2", "--from", "dp=4,tp=2", "--topology",
                                     "4x2", "--to", "dp=3,tp=2", "--lose", "n1", "--json"});
    const QJsonArray devices = plan["to"]["devices"].toArray();
    QCOMPARE(devices.size(), 6);
    for (const QJsonValue& device : devices) QVERIFY(!device.toString().startsWith("n1g"));
    const QJsonObject one = object({"plan", "--model", "gpt2", "--from", "dp=4,tp=2", "--topology",
                                    "4x2", "--to", "dp=2,tp=2", "--lose", "n1,n3g0", "--json"});
    QCOMPARE(one["idle"].toArray().size(), 1);
  }

  // One replica of two fails: the other has all but its part of the moments, which ZeRO cuts.
  void failedNodesLeaveWhatOnlyTheyHeld() {
    const QStringList words{"plan",      "--model",   "gpt2",       "--zero", "on",
                            "--from",    "dp=2,tp=2", "--topology", "3x2",    "--to",
                            "dp=2,tp=2", "--lost",    "n1"};
    const QJsonObject plan = object(words + QStringList{"--json"});
    for (const QJsonValue& device : plan["to"]["devices"].toArray())
      QVERIFY(!device.toString().startsWith("n1g"));
    const QJsonObject lost = plan["lost"].toObject();
    QCOMPARE(lost["devices"].toArray(), (QJsonArray{"n1g0", "n1g1"}));
    const qint64 moments = plan["state_bytes"].toInteger() / 3 * 2;
    const qint64 bytes = lost["bytes"].toInteger();
    QVERIFY(bytes > moments * 45 / 100 && bytes < moments * 55 / 100);
    QVERIFY(plan["bytes"]["storage"].toInteger() >= bytes);
    QVERIFY(lost["tensors"].toInteger() > 100);
    QCOMPARE(lost["first"].toArray().size(), 64);
    QVERIFY(lost["first"][0]["tensor"].toString().contains("exp_avg"));
    const QByteArray text = run(words).output;
    QVERIFY2(text.contains("  lost     2 devices: no live copy of"), text.constData());
    QVERIFY2(text.contains("from storage"), text.constData());
    // Without ZeRO the replica that is left has everything.
    QStringList whole = words;
    whole.replace(4, "off");
    QVERIFY(run(whole).output.contains("2 devices: all that they held has a live copy"));
    const Outcome wrong = run(words.mid(0, 11) + QStringList{"--lost", "n9"});
    QCOMPARE(wrong.code, 2);
    QVERIFY2(wrong.errors.contains("--lost 'n9' is not in the cluster"), wrong.errors.constData());
  }

  // One replica of two fails: the other one sends to both new ones.
  void failedNodesSendNothing() {
    const QJsonObject plan = object({"plan", "--model", "gpt2", "--from", "dp=2,tp=2", "--topology",
                                     "4x2", "--to", "dp=3,tp=2", "--lost", "n1", "--json"});
    QCOMPARE(plan["bytes"]["storage"].toInteger(), 0);
    const QJsonObject schedule = plan["schedule"].toObject();
    const qint64 bytes = schedule["network_bytes"].toInteger();
    QVERIFY(bytes >= 2 * plan["state_bytes"].toInteger());
    QCOMPARE(schedule["busiest_port"]["bytes"].toInteger(), bytes);
    QCOMPARE(schedule["busiest_port"]["port"].toString(), QStringLiteral("n0 out"));
  }

  void topologyFileSaysBandwidths() {
    const QString file = m_home->filePath("lab.json");
    write(file, R"({"devices": "2x4", "host_bytes_per_second": 4e10,
  "network_bytes_per_second": 2.5e10, "source": "data sheet"})");
    const QByteArray text =
        run({"plan", "--model", "gpt2", "--from", "tp=4", "--to", "tp=4,dp=2", "--topology", file})
            .output;
    QVERIFY2(text.contains("40 GB/s inside a host, 25 GB/s between hosts (data sheet)"),
             text.constData());
    QVERIFY2(text.contains("n0 out"), text.constData());
    QVERIFY2(text.contains(" = bound ("), text.constData());
  }

  // Four devices of a host come to need all that the other host holds.
  void scheduleRelaysUnlessToldNotTo() {
    const QStringList words{"plan", "--model", "gpt2", "--optimizer", "none", "--from",
                            "tp=4", "--to",    "dp=8", "--topology",  "2x4"};
    const QJsonObject relayed = object(words + QStringList{"--json"});
    const QJsonObject straight = object(words + QStringList{"--relay", "off", "--json"});
    const qint64 direct = straight["bytes"]["network"].toInteger();
    QVERIFY(direct > 0);
    QCOMPARE(relayed["bytes"], straight["bytes"]);
    QCOMPARE(relayed["relay"]["on"].toBool(), true);
    QCOMPARE(relayed["relay"]["network_direct_bytes"].toInteger(), direct);
    QCOMPARE(relayed["schedule"]["network_bytes"].toInteger(), direct / 4);
    QCOMPARE(relayed["schedule"]["network_bytes"].toInteger() +
                 relayed["schedule"]["host_bytes"].toInteger(),
             relayed["volume_bound_bytes"].toInteger());
    QCOMPARE(straight["relay"]["on"].toBool(), false);
    QCOMPARE(straight["schedule"]["network_bytes"].toInteger(), direct);
    const QJsonValue fast = relayed["schedule"]["busiest_port"];
    const QJsonValue slow = straight["schedule"]["busiest_port"];
    QCOMPARE(slow["bound_seconds"], fast["bound_seconds"]);
    QVERIFY(slow["seconds"].toDouble() >= slow["bound_seconds"].toDouble() * (1 - 1e-9));
    QVERIFY(fast["seconds"].toDouble() >= fast["relayed_seconds"].toDouble() * (1 - 1e-9));
    QVERIFY(fast["seconds"].toDouble() < slow["seconds"].toDouble() / 3);
    QVERIFY(relayed["schedule"]["hash"] != straight["schedule"]["hash"]);
    const QByteArray text = run(words).output;
    QVERIFY2(text.contains("(relayed; ") && text.contains(" rounds, "), text.constData());
    QVERIFY(!run(words + QStringList{"--relay", "off"}).output.contains("(relayed; "));
  }

  // Old and new pieces beside each other are twice the state; a budget between is kept in rounds.
  void scheduleKeepsToItsMemory() {
    const QStringList words{"plan", "--model", "gpt2", "--optimizer", "none", "--from",
                            "tp=4", "--to",    "pp=4", "--topology",  "1x4",  "--json"};
    const QJsonObject whole = object(words);
    qint64 most = 0;
    for (const QJsonValue& peak : whole["peak_bytes"].toObject())
      most = std::max(most, peak.toInteger());
    QCOMPARE(whole["schedule"]["rounds"].toInt(), 1);
    QVERIFY(whole["schedule"]["memory_budget_bytes"].isNull());
    const qint64 budget = most / 5 * 4;
    const QJsonObject tight = object(words + QStringList{"--memory", QString::number(budget)});
    QCOMPARE(tight["schedule"]["memory_budget_bytes"].toInteger(), budget);
    QVERIFY(tight["schedule"]["rounds"].toInt() > 1);
    for (const QJsonValue& peak : tight["schedule"]["peak_bytes"].toObject())
      QVERIFY(peak.toInteger() <= budget);
    const Outcome refused = run(words + QStringList{"--memory", "1M"});
    QCOMPARE(refused.code, 1);
    QCOMPARE(refused.errors.count('\n'), 1);
    QVERIFY2(refused.errors.contains("the memory budget is 1048576"), refused.errors.constData());
  }

  // With too many moves for a schedule the output states that, and still has the plan.
  void scheduleHasALimit() {
    const QStringList words{"plan", "--model",        "llama-3-70b", "--from", "tp=8,pp=4,dp=12",
                            "--to", "tp=8,pp=4,dp=16"};
    const QJsonObject plan = object(words + QStringList{"--json"});
    QVERIFY(plan["volume_bound_bytes"].toInteger() > 0);
    QVERIFY(plan["schedule"].isNull());
    QVERIFY(plan["schedule_pieces"]["these"].toInteger() >
            plan["schedule_pieces"]["most"].toInteger());
    QVERIFY(run(words).output.contains("schedule  none above 200000 pieces; this plan has "));
    const Outcome budget = run(words + QStringList{"--memory", "64G"});
    QCOMPARE(budget.code, 1);
    QVERIFY2(budget.errors.contains("--memory: there is no schedule above 200000 pieces"),
             budget.errors.constData());
    const Outcome relay = run(words + QStringList{"--relay", "off"});
    QCOMPARE(relay.code, 1);
    QVERIFY2(relay.errors.contains("--relay: there is no schedule above 200000 pieces"),
             relay.errors.constData());
  }

  void wrongWordsAreNamed_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const QStringList& words, int code, const char* says) {
      QTest::newRow(name) << words << code << QString::fromLatin1(says);
    };
    const QStringList gpt2{"plan", "--model", "gpt2"};
    row("no mesh", gpt2, 2, "--from must give the mesh");
    row("no target", gpt2 + QStringList{"--from", "tp=2"}, 2, "--to must give the mesh");
    row("not a mesh", gpt2 + QStringList{"--from", "xp=2", "--to", "tp=2"}, 2, "--from");
    row("not divisible", gpt2 + QStringList{"--from", "tp=5", "--to", "tp=4"}, 1, "tp = 5");
    row("too small", gpt2 + QStringList{"--from", "tp=4", "--to", "tp=8", "--topology", "1x4"}, 2,
        "--to dp=1,tp=8,pp=1 needs 8 devices, there are 4");
    row("lost what is not there",
        gpt2 + QStringList{"--from", "tp=2", "--to", "tp=1", "--lose", "n9"}, 2, "--lose 'n9'");
    row("job and model", gpt2 + QStringList{"job", "--from", "tp=2", "--to", "tp=1"}, 2, "'job'");
    row("mesh of a job", gpt2 + QStringList{"--mesh", "tp=2"}, 2, "--mesh is for a running job");
    row("all GPUs of a job", gpt2 + QStringList{"--from", "tp=2", "--to", "tp=1", "--use-all"}, 2,
        "--use-all is for a running job");
    row("stages of no pipeline",
        gpt2 + QStringList{"--from", "tp=2", "--to", "tp=4", "--stages", "0,0,1,1"}, 2,
        "--from and --to both have pp = 1");
    row("model of no job", {"plan", "job", "--from", "tp=2"}, 2, "--from needs --model");
    row("no such relay", gpt2 + QStringList{"--from", "tp=2", "--to", "tp=1", "--relay", "maybe"},
        2, "--relay 'maybe' is not one of auto, on, off");
    row("no such memory", gpt2 + QStringList{"--from", "tp=2", "--to", "tp=1", "--memory", "much"},
        2, "--memory");
    row("memory of a job", {"plan", "job", "--memory", "1G"}, 2, "--memory needs --model");
    row("no such model", {"plan", "--model", "gpt9", "--from", "tp=1", "--to", "tp=1"}, 1, "gpt9");
    row("no such rules", {"rules", "check", "lama", "--model", "gpt2"}, 1, "no rule set 'lama'");
    row("no such file", {"rules", "check", "./lama.json", "--model", "gpt2"}, 1, "./lama.json");
    row("no tensors", {"rules", "check", "llama"}, 2, "--model or --tensors");
    row("not an optimizer", {"rules", "check", "--model", "gpt2", "--optimizer", "sgd"}, 2, "sgd");
  }
  void wrongWordsAreNamed() {
    QFETCH(QStringList, words);
    QFETCH(int, code);
    QFETCH(QString, says);
    const Outcome outcome = run(words);
    QCOMPARE(outcome.code, code);
    QCOMPARE(outcome.errors.count('\n'), 1);
    QVERIFY2(outcome.errors.contains(says.toUtf8()), outcome.errors.constData());
  }

 private:
  struct Outcome {
    int code = -1;
    QByteArray output, errors;
  };

  Outcome run(const QStringList& words) const {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("TESSERA_HOME", m_home->path());
    process.setProcessEnvironment(environment);
    process.setWorkingDirectory(m_home->path());
    process.setStandardInputFile(QProcess::nullDevice());
    process.start(QStringLiteral(TESSERA_BIN_DIR "/tesseractl"), words);
    if (!process.waitForFinished(20'000) || process.exitStatus() != QProcess::NormalExit) return {};
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
  }

  QJsonObject object(const QStringList& words) const {
    const Outcome outcome = run(words);
    if (outcome.code != 0) qWarning("%s", outcome.errors.constData());
    return QJsonDocument::fromJson(outcome.output).object();
  }

  static QJsonObject find(const QJsonObject& report, const char* name) {
    for (const QJsonValue& tensor : report["tensors"].toArray())
      if (tensor["name"].toString() == QLatin1String(name)) return tensor.toObject();
    return {};
  }

  static void write(const QString& path, const QByteArray& text) {
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
      qFatal("cannot write a file of the test");
  }

  std::unique_ptr<QTemporaryDir> m_home;
};

TESSERA_TEST(OfflineTest)
#include "offline_test.moc"
