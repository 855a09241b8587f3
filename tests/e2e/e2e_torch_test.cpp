// SPDX-License-Identifier: Apache-2.0
// Programs in PyTorch, started as a user does, whose mesh changes while they train: they make the
// same steps with the same losses as without the changes.
#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/losses.h"
#include "tests/e2e/torch_jobs.h"
#include "tests/folders.h"
#include "tests/python/python.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

Q_DECLARE_METATYPE(std::vector<Layout>)

namespace {
// An optimizer whose state is cut in no way that its parameter is.
const QString kRows = QStringLiteral(
    "class Rows(torch.optim.Optimizer):\n"
    "    def __init__(self, own, lr):\n"
    "        super().__init__(own, {'lr': lr})\n"
    "    def step(self):\n"
    "        for one in self.param_groups[0]['params']:\n"
    "            self.state[one].setdefault('rows', torch.zeros(3))\n");
}  // namespace

class E2eTorchTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_python = FindPython({QStringLiteral("torch"), QStringLiteral("torch.distributed.tensor")});
    if (m_python.program.isEmpty()) QSKIP(qPrintable(m_python.why));
    m_jobs = std::make_unique<TorchJobs>(
        m_python.program,
        LocalCluster::Options{
            .nodes = 2, .devices = 2, .memory = QStringLiteral("64M"), .link = {}});
    m_cluster = &m_jobs->cluster();
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
  }
  void cleanupTestCase() { m_jobs.reset(); }
  void cleanup() {
    if (!m_jobs) return;
    for (const char* job : {"still", "moved", "wrong"}) {
      m_cluster->Run({"job", "stop", job, "--yes"});
    }
  }

  void trainsOnAsIfNothingHadMoved_data() {
    QTest::addColumn<QString>("script");
    QTest::addColumn<Layout>("first");
    QTest::addColumn<std::vector<Layout>>("then");
    QTest::newRow("plain, dp 1, 4, 2")
        << "plain.py" << Layout("dp=1", "n0g1")
        << std::vector<Layout>{{"dp=4", "n0g0,n0g1,n1g0,n1g1"}, {"dp=2", "n0g1,n1g0"}};
    // 46 and 101 rows are no equal parts. Before the last change two ranks change their places.
    const std::vector<Layout> exchanged = {{"dp=3", "n1g1,n1g0,n0g0"}, {"dp=1", "n1g0"}};
    QTest::newRow("FSDP2, dp 2, 3, 1") << "fsdp.py" << Layout("dp=2", "n0g0,n1g0") << exchanged;
    if (!qEnvironmentVariableIsSet("TESSERA_TEST_ALL")) return;
    const auto all = QStringLiteral("n0g0,n0g1,n1g0,n1g1");
    const std::vector<Layout> plain = {{"dp=4", all}, {"dp=2", "n0g1,n1g0"}};
    const std::vector<Layout> uneven = {
        {"dp=3", "n0g0,n1g0,n1g1"}, {"dp=4", all}, {"dp=1", "n1g0"}};
    QTest::newRow("FSDP2, dp 2, 3, 4, 3, 1") << "fsdp.py" << Layout("dp=2", "n0g0,n1g0")
                                             << std::vector<Layout>{{"dp=3", "n0g0,n1g0,n1g1"},
                                                                    {"dp=4", "n0g0,n1g0,n1g1,n0g1"},
                                                                    exchanged.front(),
                                                                    exchanged.back()};
    const std::vector<Layout> tensors = {{"dp=1,tp=4", all}, {"dp=4,tp=1", all}};
    QTest::newRow("the FSDP2 tutorial, dp 4, 2")
        << "fsdp2_tutorial.py" << Layout("dp=4", all) << std::vector<Layout>{{"dp=2", "n0g0,n1g0"}};
    QTest::newRow("HSDP, copies and parts (2,2), (1,4), (4,1), (1,3), (1,1)")
        << "fsdp.py --hybrid" << Layout("dp=2,cp=2", all)
        << std::vector<Layout>{{"dp=1,cp=4", all},
                               {"dp=4,cp=1", all},
                               {"dp=1,cp=3", "n0g0,n1g0,n1g1"},
                               {"dp=1,cp=1", "n1g0"}};
    for (const char* model : {"gpt2", "llama"}) {
      const QString script = QStringLiteral("hf.py --model %1").arg(model);
      QTest::addRow("%s of transformers, dp 1, 4, 2", model)
          << script + " --plain" << Layout("dp=1", "n0g1") << plain;
      QTest::addRow("%s, FSDP2, dp 2, 3, 4, 1", model)
          << script << Layout("dp=2", "n0g0,n1g0") << uneven;
    }
    QTest::newRow("llama, FSDP2 and its own plan, (2,2), (1,4), (4,1)")
        << "hf.py --model llama" << Layout("dp=2,tp=2", all) << tensors;
    QTest::newRow("llama, FSDP2 and parallelize_module, (2,2), (1,4), (4,1)")
        << "llama.py" << Layout("dp=2,tp=2", all) << tensors;
    QTest::newRow("mixtral, ep 2, 4, then ep and FSDP2 2")
        << "hf.py --model mixtral" << Layout("ep=2", "n0g0,n1g0")
        << std::vector<Layout>{{"dp=1,ep=4", all}, {"dp=2,ep=2", all}};
    QTest::newRow("Trainer of transformers, dp 2, 4, 3, 1")
        << "trainer.py" << Layout("dp=2", "n0g0,n1g0")
        << std::vector<Layout>{{"dp=4", all}, {"dp=3", "n1g1,n1g0,n0g0"}, {"dp=1", "n1g0"}};
    QTest::newRow("pipeline, pp 2, 1, 4, then pp and tp 2")
        << "pipeline.py" << Layout("pp=2", "n0g0,n1g0")
        << std::vector<Layout>{{"dp=1,pp=1", "n1g0"}, {"dp=1,pp=4", all}, {"dp=1,tp=2,pp=2", all}};
  }
  void trainsOnAsIfNothingHadMoved() {
    QFETCH(QString, script);
    QFETCH(Layout, first);
    QFETCH(std::vector<Layout>, then);
    if (script == "pipeline.py" && OnRealGpus())
      QSKIP("torch: ranks that share a GPU cannot be stages of a pipeline");
    QStringList modules = {QStringLiteral("torch")};
    if (script.startsWith("llama.py") || script.startsWith("hf.py")) modules << "transformers";
    if (script.startsWith("trainer.py"))
      modules << "transformers"
              << "accelerate";
    const Python python = FindPython(modules);
    if (python.program != m_python.program)
      QSKIP(qPrintable(modules.join(", ") + ": " + python.why));
    const QStringList words = script.split(u' ');
    script = words.first();
    const QStringList more = words.mid(1);
    QVERIFY(m_jobs->Start("still", script, first, more));
    QVERIFY(m_jobs->EndsPaused("still"));
    const Run still = RunOf(*m_cluster, "still");
    QCOMPARE(still.size(), static_cast<std::size_t>(TorchSteps()));
    QVERIFY(still.at(TorchSteps()).loss < still.at(1).loss);
    QVERIFY(m_cluster->Run({"job", "stop", "still", "--yes"}).code == 0);

    // Each change waits for ranks that import torch; the steps must not end before the last one.
    const QString delay = then.size() > 3 ? QStringLiteral("1") : QStringLiteral("0.5");
    QVERIFY(m_jobs->Start("moved", script, first, more + QStringList{"--delay", delay}));
    std::int64_t epoch = 1;
    int num_overlapped = 0;
    const bool evaluates = script == "trainer.py";  // after a step, which is whole then
    std::vector<std::int64_t> ranks = m_jobs->Ranks(script);
    QStringList before = first.second.split(u',');
    for (const auto& [mesh, devices] : then) {
      const std::int64_t from = m_cluster->Step("moved");
      QVERIFY(m_cluster->WaitStep("moved", from + 1));
      const Json moved =
          m_cluster->Apply("moved", mesh, devices, {"--overlap", evaluates ? "auto" : "on"});
      QVERIFY(moved.is_object());
      QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
      VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
      QCOMPARE(moved["moved_bytes"].dump(), moved["volume_bound_bytes"].dump());
      QCOMPARE(moved["epoch"].get<std::int64_t>(), ++epoch);
      const Json phases = m_cluster->Ask({"history"})["transactions"][0]["phase_seconds"];
      num_overlapped += phases.contains("precopying") ? 1 : 0;
      // Processes of devices that stay go on; others may take a moment to end.
      const std::vector<std::int64_t> now = m_jobs->Ranks(script);
      const auto num_kept = std::ranges::count_if(
          now, [&](std::int64_t pid) { return std::ranges::count(ranks, pid) > 0; });
      const QStringList after = devices.split(u',');
      const auto num_stay = std::ranges::count_if(
          after, [&](const QString& device) { return before.contains(device); });
      QVERIFY2(num_kept >= num_stay, qPrintable(mesh));
      before = after;
      ranks = now;
    }
    QVERIFY(m_cluster->Step("moved") < TorchSteps());
    QCOMPARE(num_overlapped, evaluates ? 0 : static_cast<int>(then.size()));
    QVERIFY(m_jobs->EndsPaused("moved"));
    const QString difference = DifferenceOf(RunOf(*m_cluster, "moved"), still);
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
  }

  // What arrives is put where gradients were. If it is not used, they begin with zeros again.
  void aChangeThatIsCancelledLeavesNoTrace() {
    const LocalCluster slow(LocalCluster::Options{
        .nodes = 2, .devices = 2, .memory = QStringLiteral("64M"), .link = "1MB/s"});
    QVERIFY2(slow.up().code == 0, slow.up().Text());
    QVERIFY(
        Write("import time, torch, tessera.torch\n"
              "from torch.distributed.fsdp import fully_shard\n"
              "job = tessera.torch.attach()\n"
              "def build(mesh):\n"
              "    torch.manual_seed(1)\n"
              "    model = torch.nn.Linear(700, 700)\n"
              "    fully_shard(model, mesh=mesh['dp'])\n"
              "    return model, torch.optim.AdamW(model.parameters(), lr=1e-6)\n"
              "job.bind(build)\n"
              "for step in job.steps():\n"
              "    loss = job.model(torch.ones(2, 700, device=job.device)).square().mean()\n"
              "    loss.backward()\n"
              "    job.step(loss)\n"
              "    time.sleep(0.05)\n"));
    const Outcome start = StartWrong(slow, {"dp=2", "n0g0,n0g1"});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(slow.WaitStep("wrong", 5));
    const auto apply = slow.Start(
        {"apply", "wrong", "--mesh", "dp=3", "--devices", "n1g0,n1g1,n0g0", "--pin", "--yes"});
    QVERIFY(LocalCluster::WaitFor([&] { return slow.Phase() == "transferring"; }, kTorchPatience));
    QTest::qWait(700);  // of some seconds
    const Outcome cancel = slow.Run({"txn", "cancel"});
    QVERIFY2(cancel.code == 0, cancel.Text());
    const Outcome outcome = LocalCluster::Finish(*apply);
    QVERIFY2(outcome.code == 1, outcome.Text());
    const std::int64_t step = slow.Step("wrong");
    QVERIFY(slow.WaitStep("wrong", step + 10));
    QCOMPARE(slow.Job("wrong")["epoch"].get<std::int64_t>(), std::int64_t{1});
    double before = -1;
    const QString lines = slow.Run({"job", "metrics", "wrong", "--json"}).output;
    for (const QString& line : lines.trimmed().split(u'\n')) {
      const double norm = Json::parse(line.toStdString()).value("grad_norm", -1.0);
      QVERIFY2(norm > 0, qPrintable(line));
      QVERIFY2(before < 0 || norm < 1.1 * before, qPrintable(line));
      before = norm;
    }
  }

  // Each rank sees other samples, so BatchNorm would make replicas that differ.
  void savedBuffersAreTheSameEverywhere() {
    QVERIFY(
        Write("import time, torch, tessera.torch\n"
              "job = tessera.torch.attach()\n"
              "def build(mesh):\n"
              "    torch.manual_seed(1)\n"
              "    model = torch.nn.Sequential(torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1))\n"
              "    return model, torch.optim.SGD(model.parameters(), lr=1e-3)\n"
              "job.bind(build)\n"
              "for step in job.steps():\n"
              "    loss = job.model(torch.randn(4, 8, device=job.device)).square().mean()\n"
              "    loss.backward()\n"
              "    job.step(loss)\n"
              "    time.sleep(0.05)\n"));
    const Outcome start = StartWrong(*m_cluster, {"dp=2", "n0g0,n1g0"});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep("wrong", 5));
    const Outcome digest = m_cluster->Run({"digest", "wrong", "--json"}, kTorchPatience);
    QVERIFY2(digest.code == 0, digest.Text());
    QVERIFY(digest.LastJson()["tensors"].contains("0.running_mean"));
    const Outcome rules = m_cluster->Run({"rules", "show", "wrong"});
    QVERIFY2(rules.output.contains(R"({"match": "0.running_mean", "cut": "replicate")"),
             rules.Text());
    const std::string model = m_cluster->Job("wrong")["model"];
    QVERIFY2(model.starts_with("Sequential, torch 2."), model.c_str());
    const Outcome moved = m_cluster->Run({"apply", "wrong", "--mesh", "dp=3", "--devices",
                                          "n0g0,n1g0,n1g1", "--verify", "full", "--yes"},
                                         kTorchPatience);
    QVERIFY2(moved.code == 0, moved.Text());
    QVERIFY(m_cluster->GoesOn("wrong", 5));
  }

  void runsWithoutTessera_data() {
    QTest::addColumn<QString>("script");
    QTest::addColumn<bool>("has_package");
    QTest::newRow("FSDP2") << kTorchExamples + "fsdp.py" << true;
    if (!qEnvironmentVariableIsSet("TESSERA_TEST_ALL")) return;
    QTest::newRow("HSDP") << kTorchExamples + "fsdp.py --hybrid" << true;
    QTest::newRow("the FSDP2 tutorial") << kTorchExamples + "fsdp2_tutorial.py" << true;
    // Each line of Tessera back to those that it has replaced.
    QFile file(kTorchExamples + "fsdp2_tutorial.py");
    QVERIFY(file.open(QIODevice::ReadOnly));
    QString text = QString::fromUtf8(file.readAll());
    text.remove(QRegularExpression("^.*# Tessera\n", QRegularExpression::MultilineOption));
    text.remove(QStringLiteral("# was: "));
    QVERIFY(Write(text));
    QTest::newRow("the FSDP2 tutorial as it was") << m_files.filePath("wrong.py") << false;
  }
  void runsWithoutTessera() {
    QFETCH(QString, script);
    QFETCH(bool, has_package);
    QProcess alone;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.remove("PYTHONPATH");
    if (has_package) environment.insert("PYTHONPATH", TESSERA_SOURCE_DIR "/agents/python");
    environment.insert("OMP_NUM_THREADS", "1");
    alone.setProcessEnvironment(environment);
    alone.start(m_python.program, QStringList{"-m", "torch.distributed.run", "--standalone",
                                              "--nproc-per-node", "2"} +
                                      script.split(u' ') + QStringList{"--steps", "40"});
    QVERIFY(alone.waitForFinished(kTorchPatience * 1000));
    const QString output = QString::fromUtf8(alone.readAllStandardError());
    QVERIFY2(alone.exitCode() == 0, qPrintable(output));
    QCOMPARE(output.count("step 40: loss"), 2);
  }

  void saysWhatIsWrongBeforeThereAreRanks_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("sentence");
    const QString build = QStringLiteral(
        "import torch, tessera.torch\n"
        "job = tessera.torch.attach()\n"
        "def build(mesh):\n"
        "    model = torch.nn.Linear(4, 4%1)\n"
        "    return model, torch.optim.%2\n"
        "job.bind(build)\n");
    QTest::newRow("no module") << "import no_such_module\n"
                               << "no Python module 'no_such_module'";
    QTest::newRow("no bind") << "import tessera.torch\ntessera.torch.attach()\n"
                             << "ended without job.bind(build)";
    QTest::newRow("dtype") << build.arg(", dtype=torch.complex128", "SGD(model.parameters(), 1)")
                           << "'weight' is torch.complex128, which a job cannot hold";
    QTest::newRow("another model's")
        << build.arg("", "SGD(torch.nn.Linear(2, 3).parameters(), 1)")
        << "the optimizer has a parameter of shape (3, 2) that is not the model's";
    QTest::newRow("doubles") << build.arg(", dtype=torch.float64", "SGD(model.parameters(), 1)")
                             << "'weight' is f64; gradients of a job are f32";
    QTest::newRow("unknown beginning")
        << build.arg("", "SGD(model.parameters(), 0.1, momentum=0.9, dampening=0.1)")
        << "SGD cannot be bound: it cannot be seen what its state begins with";
    QTest::newRow("no tensor") << build.arg("", "LBFGS(model.parameters())") << "LBFGS";
    QTest::newRow("shared memory")
        << build.arg(")\n    model.row = torch.nn.Parameter(model.weight.data[1:2]",
                     "SGD(model.parameters(), 1)")
        << "'weight' and 'row' are different tensors in the same memory, which a job cannot hold";
    QTest::newRow("state without a cut")
        << build
               .arg(
                   ")\n    from torch.distributed.fsdp import fully_shard\n"
                   "    fully_shard(model, mesh=mesh['dp']",
                   "SGD(model.parameters(), 1)")
               .replace("return model, torch.optim.SGD", "return model, Rows")
               .replace("def build", kRows + "def build")
        << "state 'rows' of 'weight' has shape (3,) and no cut, but the parameter is cut";
  }
  void saysWhatIsWrongBeforeThereAreRanks() {
    QFETCH(QString, text);
    QFETCH(QString, sentence);
    QVERIFY(Write(text));
    const Outcome start = m_cluster->Run({"job", "start", m_files.filePath("wrong.py"), "--python",
                                          m_python.program, "--mesh", "dp=1"},
                                         kTorchPatience);
    QVERIFY2(start.code != 0 && start.errors.contains(sentence), start.Text());
    QVERIFY2(start.errors.contains("before it said what it has"), start.Text());
    QVERIFY(m_cluster->Status()["jobs"].empty());
  }

  // An ordinary loop has no gradient for it, so that no decay and no momentum changes it.
  void aParameterThatNoStepUsesStays() {
    QVERIFY(
        Write("import torch, tessera.torch\n"
              "job = tessera.torch.attach()\n"
              "def build(mesh):\n"
              "    torch.manual_seed(1)\n"
              "    model = torch.nn.ModuleList([torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)])\n"
              "    return model, torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.5)\n"
              "job.bind(build)\n"
              "with torch.random.fork_rng():\n"
              "    torch.manual_seed(1)\n"
              "    torch.nn.Linear(4, 4)\n"
              "    unused = torch.nn.Linear(4, 4).weight.detach().to(job.device)\n"
              "for step in job.steps(until=40):\n"
              "    loss = job.model[0](torch.ones(1, 4, device=job.device)).square().sum()\n"
              "    loss.backward()\n"
              "    job.step(loss)\n"
              "    assert torch.equal(job.model[1].weight.detach(), unused), step\n"));
    const Outcome start = StartWrong(*m_cluster, {"dp=2", "n0g0,n1g0"});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->Apply("wrong", "dp=3", "n0g0,n1g0,n1g1", {"--overlap", "on"}).is_object());
    QVERIFY(m_jobs->EndsPaused("wrong", 40));
  }

  // Each rank along cp has one part of the same sequences. Nobody but job.step knows that.
  void partsOfSequencesAreAveraged_data() {
    QTest::addColumn<QString>("mesh");
    QTest::addColumn<QString>("devices");
    QTest::newRow("cp 2") << "dp=1,cp=2"
                          << "n0g0,n1g0";
    QTest::newRow("dp 2, cp 2") << "dp=2,cp=2"
                                << "n0g0,n0g1,n1g0,n1g1";
  }
  void partsOfSequencesAreAveraged() {
    QFETCH(QString, mesh);
    QFETCH(QString, devices);
    QVERIFY(
        Write("import torch, tessera.torch\n"
              "job = tessera.torch.attach()\n"
              "def build(mesh):\n"
              "    torch.manual_seed(1)\n"
              "    model = torch.nn.Linear(3, 3)\n"
              "    return model, torch.optim.SGD(model.parameters(), 0.05)\n"
              "job.bind(build)\n"
              "data = torch.randn(12, 4, 3, generator=torch.Generator().manual_seed(2))\n"
              "batch = job.sampler(12, global_batch=4)\n"
              "for step in job.steps(until=40):\n"
              "    samples = data[batch()].to(job.device).chunk(job.mesh['cp'].size(), dim=1)\n"
              "    own = samples[job.mesh['cp'].get_local_rank()]\n"
              "    loss = (job.model(own) - own.roll(1, dims=2)).square().mean()\n"
              "    loss.backward()\n"
              "    job.step(loss)\n"));
    QVERIFY(StartWrong(*m_cluster, {"dp=1", "n0g0"}).code == 0);
    QVERIFY(m_jobs->EndsPaused("wrong", 40));
    const Run whole = RunOf(*m_cluster, "wrong");
    QVERIFY(m_cluster->Run({"job", "stop", "wrong", "--yes"}).code == 0);
    const Outcome start = StartWrong(*m_cluster, {mesh, devices});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_jobs->EndsPaused("wrong", 40));
    const QString difference = DifferenceOf(RunOf(*m_cluster, "wrong"), whole);
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
  }

  void ranksThatBeginWithOtherValuesAreRefused_data() {
    QTest::addColumn<QString>("member");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("a parameter") << "model.bias.data.copy_(noise)"
                                 << "'bias' begins";
    QTest::newRow("a buffer") << "model.register_buffer('noise', noise, persistent=False)"
                              << "'noise' begins";
  }
  void ranksThatBeginWithOtherValuesAreRefused() {
    QFETCH(QString, member);
    QFETCH(QString, sentence);
    QVERIFY(Write(QStringLiteral("import os, torch, tessera.torch\n"
                                 "job = tessera.torch.attach()\n"
                                 "def build(mesh):\n"
                                 "    torch.manual_seed(os.getpid())\n"
                                 "    noise = torch.randn(4)\n"
                                 "    torch.manual_seed(1)\n"
                                 "    model = torch.nn.Linear(4, 4)\n"
                                 "    %1\n"
                                 "    return model, torch.optim.SGD(model.parameters(), 0.1)\n"
                                 "job.bind(build)\n"
                                 "for step in job.steps():\n"
                                 "    pass\n")
                      .arg(member)));
    const Outcome start = StartWrong(*m_cluster, {"dp=2", "n0g0,n1g0"});
    QVERIFY2(start.code != 0, start.Text());
    QVERIFY2(start.errors.contains("tessera._library.TesseraError: " + sentence +
                                   " with other values on other ranks: set a seed before"),
             start.Text());
  }

  void aModelOfBeforeAChangeIsRefused() {
    QVERIFY(
        Write("import time, torch, tessera.torch\n"
              "job = tessera.torch.attach()\n"
              "def build(mesh):\n"
              "    torch.manual_seed(1)\n"
              "    model = torch.nn.Linear(4, 4)\n"
              "    return model, torch.optim.SGD(model.parameters(), 0.1)\n"
              "job.bind(build)\n"
              "model = job.model\n"
              "for step in job.steps():\n"
              "    loss = model(torch.ones(1, 4, device=job.device)).square().sum()\n"
              "    loss.backward()\n"
              "    job.step(loss)\n"
              "    time.sleep(0.05)\n"));
    const Outcome start = StartWrong(*m_cluster, {"dp=1", "n0g0"});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep("wrong", 3));
    m_cluster->Apply("wrong", "dp=2", "n0g0,n1g0");
    QVERIFY(SaysInItsLog("this Linear is of a mesh that the job has left: use job.model"));
  }

  // TrainingArguments would take the GPUs of the machine, and refuse bf16 where it has none.
  void aTrainerUsesTheDeviceOfItsRank() {
    const Python python = FindPython({"transformers", "accelerate"});
    if (python.program != m_python.program)
      QSKIP(qPrintable("transformers beside torch: " + python.why));
    QVERIFY(
        Write("import tempfile, torch, tessera.torch, tessera.transformers\n"
              "from transformers import Trainer, TrainingArguments\n"
              "class Model(torch.nn.Module):\n"
              "    def __init__(self):\n"
              "        super().__init__()\n"
              "        self.layer = torch.nn.Linear(4, 1)\n"
              "    def forward(self, x):\n"
              "        return {'loss': self.layer(x).square().mean()}\n"
              "job = tessera.torch.attach()\n"
              "args = TrainingArguments(tempfile.gettempdir(), bf16=True, max_steps=40,\n"
              "                         save_strategy='no', report_to='none')\n"
              "assert args.device == job.device and args.n_gpu == (job.device.type == 'cuda')\n"
              "data = [{'x': torch.ones(4)}] * 16\n"
              "trainer = Trainer(Model(), args, train_dataset=data)\n"
              "assert trainer.accelerator.device == job.device\n"
              "assert trainer.model.layer.weight.device.type == 'cpu'\n"
              "trainer.add_callback(tessera.transformers.TesseraCallback(job, trainer))\n"
              "trainer.train()\n"));
    const Outcome start = StartWrong(*m_cluster, {"dp=2", "n0g0,n1g0"});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_jobs->EndsPaused("wrong", 40));
  }

  // What the program does with stages is only needed for meshes that have some.
  void stagesThatAreNoRuleAreLeftOut() {
    QVERIFY(Write(
        "import torch, tessera.torch\n"
        "job = tessera.torch.attach()\n"
        "def build(mesh):\n"
        "    torch.manual_seed(1)\n"
        "    stage, stages = mesh['pp'].get_local_rank(), mesh['pp'].size()\n"
        "    held = {str(i): torch.nn.Linear(2, 2) for i in range(6) if i * stages // 6 == stage}\n"
        "    model = torch.nn.ModuleDict(held)\n"
        "    if stage == min(1, stages - 1):\n"
        "        model['middle'] = torch.nn.Linear(3, 3)\n"
        "    return model, torch.optim.SGD(model.parameters(), 0.1)\n"
        "job.bind(build)\n"
        "for step in job.steps(until=3):\n"
        "    loss = job.model['0'](torch.ones(1, 2, device=job.device)).sum()\n"
        "    loss.backward()\n"
        "    job.step(loss)\n"));
    const Outcome staged = StartWrong(*m_cluster, {"pp=2", "n0g0,n1g0"});
    QVERIFY2(staged.code != 0, staged.Text());
    QVERIFY2(staged.errors.contains(
                 "no pipeline stages are taken from the program: with pp=3 the program has "
                 "'middle.weight' on stages [1]; a tensor is on the stage of its layer, the first, "
                 "the last, both, or all"),
             staged.Text());
    // Whichever rank says it first.
    QVERIFY2(staged.errors.contains("with pp=2 on stage ") &&
                 staged.errors.contains(" the program has no tensor '"),
             staged.Text());
    m_cluster->Run({"job", "stop", "wrong", "--yes"});
    const Outcome start = StartWrong(*m_cluster, {"dp=2", "n0g0,n1g0"});
    QVERIFY2(start.code == 0, start.Text());
  }

  void aMeshThatTheProgramCannotTakeIsRefused_data() {
    QTest::addColumn<Layout>("first");
    QTest::addColumn<Layout>("then");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("a rank joins") << Layout("dp=2", "n0g0,n1g0") << Layout("dp=3", "n0g0,n1g0,n1g1")
                                  << "dp=3: ValueError: three is no power of two";
    QTest::newRow("none joins") << Layout("dp=4", "n0g0,n0g1,n1g0,n1g1")
                                << Layout("dp=3", "n0g0,n0g1,n1g0")
                                << "dp=3: ValueError: three is no power of two";
    QTest::newRow("other tensors") << Layout("dp=2", "n0g0,n1g0") << Layout("dp=1", "n0g0")
                                   << "with one rank the program has no tensor 'bias'";
  }
  void aMeshThatTheProgramCannotTakeIsRefused() {
    QFETCH(Layout, first);
    QFETCH(Layout, then);
    QFETCH(QString, sentence);
    QVERIFY(
        Write("import time, torch, tessera.torch\n"
              "job = tessera.torch.attach()\n"
              "def build(mesh):\n"
              "    size = mesh['dp'].size()\n"
              "    if size == 3:\n"
              "        raise ValueError('three is no power of two')\n"
              "    torch.manual_seed(1)\n"
              "    is_real = torch.empty(0).device.type != 'meta'\n"
              "    model = torch.nn.Linear(4, 4, bias=size > 1 or is_real)\n"
              "    return model, torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)\n"
              "job.bind(build)\n"
              "for step in job.steps():\n"
              "    loss = job.model(torch.ones(1, 4, device=job.device)).square().sum()\n"
              "    loss.backward()\n"
              "    job.step(loss)\n"
              "    time.sleep(0.05)\n"));
    const Outcome start = StartWrong(*m_cluster, first);
    QVERIFY2(start.code == 0, start.Text());
    const Outcome refused =
        m_cluster->Run({"apply", "wrong", "--mesh", then.first, "--devices", then.second, "--yes"},
                       kTorchPatience);
    QVERIFY2(refused.code != 0 && QString(refused.Text()).contains(sentence), refused.Text());
    QCOMPARE(m_cluster->Job("wrong")["epoch"].get<std::int64_t>(), std::int64_t{1});
    QVERIFY(m_cluster->GoesOn("wrong", 5));
  }

  // The program knows its batch, and the mesh that is to come.
  void aBatchWithoutEqualPartsIsRefused() {
    QVERIFY(m_jobs->Start("wrong", "fsdp.py", {"dp=2", "n0g0,n1g0"},
                          {"--batch", "4", "--steps", "100000", "--delay", "0.05"}));
    const QString sentence = "a batch of 4 samples has no equal parts for dp=3";
    const Outcome planned = m_cluster->Run(
        {"plan", "wrong", "--mesh", "dp=3", "--devices", "n0g0,n1g0,n1g1"}, kTorchPatience);
    QVERIFY2(planned.code == 1 && QString(planned.Text()).contains(sentence), planned.Text());
    const Outcome refused =
        m_cluster->Run({"apply", "wrong", "--mesh", "dp=3", "--devices", "n0g0,n1g0,n1g1", "--yes"},
                       kTorchPatience);
    QVERIFY2(refused.code != 0 && QString(refused.Text()).contains(sentence), refused.Text());
    QCOMPARE(m_cluster->Job("wrong")["epoch"].get<std::int64_t>(), std::int64_t{1});
    QVERIFY(m_cluster->GoesOn("wrong", 5));
    QVERIFY(m_cluster->Apply("wrong", "dp=4", "n0g0,n1g0,n1g1,n0g1").is_object());
  }

  void aScriptThatFailsInItsFirstStepHasNotStarted() {
    QVERIFY(
        Write("import torch, tessera.torch\n"
              "job = tessera.torch.attach()\n"
              "def build(mesh):\n"
              "    model = torch.nn.Linear(4, 4)\n"
              "    return model, torch.optim.SGD(model.parameters(), 0.1)\n"
              "job.bind(build)\n"
              "for step in job.steps():\n"
              "    raise ValueError('the data is late')\n"));
    const Outcome start = StartWrong(*m_cluster, {"dp=1", "n0g0"});
    QVERIFY2(start.code == 1 &&
                 start.errors.contains("job 'wrong' ended before its first step: ") &&
                 start.errors.contains("ValueError: the data is late"),
             start.Text());
  }

  void aJobEndsByFinishOrBreak_data() {
    QTest::addColumn<QString>("end");
    QTest::newRow("finish")
        << "if step == 10 and job.mesh['dp'].get_local_rank() == 0: job.finish()";
    QTest::newRow("break") << "if step == 11: break";
  }
  void aJobEndsByFinishOrBreak() {
    QFETCH(QString, end);
    QVERIFY(Write(QStringLiteral("import torch, tessera.torch\n"
                                 "job = tessera.torch.attach()\n"
                                 "def build(mesh):\n"
                                 "    torch.manual_seed(1)\n"
                                 "    model = torch.nn.Linear(4, 4)\n"
                                 "    return model, torch.optim.SGD(model.parameters(), 0.1)\n"
                                 "job.bind(build)\n"
                                 "for step in job.steps(until=1000):\n"
                                 "    %1\n"
                                 "    loss = job.model(torch.ones(1, 4, device=job.device)).sum()\n"
                                 "    loss.backward()\n"
                                 "    job.step(loss)\n"
                                 "print('the script has ended')\n")
                      .arg(end)));
    const Outcome start = StartWrong(*m_cluster, {"dp=2", "n0g0,n1g0"});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_jobs->EndsPaused("wrong", 10));
    QCOMPARE(m_cluster->Job("wrong")["reason"].get<std::string>(),
             std::string("its program has made all of its steps"));
    // Ranks that join have not heard of the end.
    QVERIFY(m_cluster->Apply("wrong", "dp=3", "n0g0,n1g0,n1g1").is_object());
    const Outcome resumed = m_cluster->Run({"job", "resume", "wrong"});
    QVERIFY2(resumed.code == 1 && resumed.errors.contains("'wrong' has finished after step 10"),
             resumed.Text());
    QVERIFY(m_jobs->EndsPaused("wrong", 10));
  }

  // The user corrects the script, and it goes on with the state that it has.
  void aRefusalIsNotTriedAgain() {
    const QString text =
        "import torch, tessera.torch\n"
        "job = tessera.torch.attach()\n"
        "def build(mesh):\n"
        "    torch.manual_seed(1)\n"
        "    model = torch.nn.Linear(4, 4)\n"
        "    return model, torch.optim.SGD(model.parameters(), 0.1)\n"
        "job.bind(build)\n"
        "for step in job.steps(until=40):\n"
        "    loss = job.model(torch.ones(1, 4, device=job.device)).square().sum()\n"
        "    loss.backward()\n"
        "    %1job.step(loss)\n";
    QVERIFY(Write(text.arg("job.step(loss) if step == 20 else 0; ")));
    const Outcome start = StartWrong(*m_cluster, {"dp=2", "n0g0,n1g0"});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitJob(
        "wrong", [](const Json& now) { return now["state"] == "suspended"; }, kTorchPatience));
    QVERIFY(m_cluster->WaitJob("wrong", [](const Json& now) {
      const std::string reason = now["reason"];
      return reason.find("job.step(loss) was called twice in one step") != std::string::npos &&
             reason.find("correct the program") != std::string::npos;
    }));
    QTest::qWait(3000);  // ranks that are started again would run by then
    QVERIFY(!m_cluster->Run({"events"}).output.contains("started again on 2 GPUs"));
    QVERIFY(m_cluster->Job("wrong")["state"] == "suspended");
    QVERIFY(Write(text.arg("")));
    const Outcome resumed = m_cluster->Run({"job", "resume", "wrong"}, kTorchPatience);
    QVERIFY2(resumed.code == 0, resumed.Text());
    QVERIFY(m_jobs->EndsPaused("wrong", 40));
  }

  // Its ranks are started again in vain, and its state is whole. Before the loop, the update that
  // the change has left to them is missing on all devices: its step is made again.
  void aProgramThatFailsOnItsMeshReturns_data() {
    QTest::addColumn<bool>("in_loop");
    QTest::newRow("in its loop") << true;
    QTest::newRow("before its loop") << false;
  }
  void aProgramThatFailsOnItsMeshReturns() {
    QFETCH(bool, in_loop);
    const QString check =
        "if job.mesh['dp'].size() == 3: raise ValueError('three is no power of two')\n";
    QVERIFY(
        Write("import time, torch, tessera.torch\n"
              "job = tessera.torch.attach()\n"
              "def build(mesh):\n"
              "    torch.manual_seed(1)\n"
              "    model = torch.nn.Linear(4, 4)\n"
              "    return model, torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)\n"
              "job.bind(build)\n" +
              (in_loop ? QString() : check) + "for step in job.steps():\n" +
              (in_loop ? "    " + check : QString()) +
              "    loss = job.model(torch.ones(1, 4, device=job.device)).square().sum()\n"
              "    loss.backward()\n"
              "    job.step(loss)\n"
              "    time.sleep(0.05)\n"));
    const Outcome start = StartWrong(*m_cluster, {"dp=2", "n0g0,n1g0"});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep("wrong", 3));
    m_cluster->Run({"apply", "wrong", "--mesh", "dp=3", "--devices", "n0g0,n1g0,n1g1", "--yes"},
                   kTorchPatience);
    QVERIFY(m_cluster->WaitJob(
        "wrong",
        [](const Json& now) {
          return now["epoch"] == 3 && now["state"] == "running" && now["devices"].size() == 2;
        },
        2 * kTorchPatience));
    QVERIFY(m_cluster->Run({"events"})
                .output.contains("returns to 2 GPUs as dp=2: its ranks have made no step as dp=3"));
    QVERIFY(m_cluster->GoesOn("wrong", 5));
  }

 private:
  bool Write(const QString& text) {
    QFile file(m_files.filePath("wrong.py"));
    return file.open(QIODevice::WriteOnly) && file.write(text.toUtf8()) > 0;
  }
  /// What Write has written.
  Outcome StartWrong(const LocalCluster& cluster, const Layout& layout) {
    return cluster.Run({"job", "start", m_files.filePath("wrong.py"), "--python", m_python.program,
                        "--mesh", layout.first, "--devices", layout.second},
                       kTorchPatience);
  }
  bool SaysInItsLog(const QString& sentence) {
    return LocalCluster::WaitFor(
        [&] {
          return m_cluster->Run({"job", "logs", "wrong"}).output.contains(sentence);
        },
        kTorchPatience);
  }
  Python m_python;
  std::unique_ptr<TorchJobs> m_jobs;
  LocalCluster* m_cluster = nullptr;  // of m_jobs
  QTemporaryDir m_files;
};
TESSERA_TEST(E2eTorchTest)
#include "e2e_torch_test.moc"
