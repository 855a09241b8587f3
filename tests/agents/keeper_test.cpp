// SPDX-License-Identifier: Apache-2.0
#include "agents/keeper/keeper.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <csignal>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "agents/keeper/child.h"
#include "agents/keeper/keeper_client.h"
#include "agents/keeper/memory_progress.h"
#include "agents/keeper/packet.h"
#include "engine/store/arena.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using std::chrono::milliseconds;

namespace {

constexpr const char* kControlVariable = "TEST_CONTROL_SOCKET";
constexpr std::int64_t kDeviceBytes = 4 << 20;
constexpr int kLimit = 15000;  // ms; nothing here takes long

sockaddr_un Address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

std::string Describe(const KeeperClient::Rank& rank) {
  std::ostringstream out;
  out << rank.pid << ":" << rank.tag << ":" << rank.device << ":"
      << (rank.exited ? DescribeExit(rank.status) : "alive");
  return out.str();
}

std::string Obey(KeeperClient& keeper, const std::string& command) {
  std::istringstream in(command);
  std::ostringstream out;
  std::string verb;
  in >> verb;
  const auto text = [](const auto& result) {
    return result ? std::string("ok") : "error " + result.error().ToString();
  };
  if (verb == "arenas") {
    for (const auto& arena : keeper.arenas()) out << arena.index << ":" << arena.bytes << " ";
  } else if (verb == "poke" || verb == "peek") {
    std::size_t device = 0;
    in >> device;
    const auto arena = engine::Arena::Map(keeper.arenas().at(device).fd, true);
    if (!arena) return arena.error().ToString();
    auto& word = *reinterpret_cast<std::uint64_t*>(arena->AddressOf(engine::kArenaDataOffset));
    if (verb == "poke") in >> word;
    out << word;
  } else if (verb == "spawn") {
    KeeperClient::SpawnRequest request;
    in >> request.device >> request.tag >> std::ws;
    std::string script;
    std::getline(in, script);
    request.argv = {"sh", "-c", script};
    request.environment = {"PATH=/usr/bin:/bin", "GIVEN=yes"};
    const auto pid = keeper.Spawn(request);
    out << (pid ? std::to_string(*pid) : text(pid));
  } else if (verb == "start") {
    KeeperClient::SpawnRequest request;
    request.argv.resize(1);
    in >> request.argv[0];
    out << text(keeper.Spawn(request));
  } else if (verb == "ranks") {
    for (const auto& rank : keeper.ranks()) out << Describe(rank) << " ";
  } else if (verb == "signal") {
    std::int64_t pid = 0;
    int signal = 0;
    in >> pid >> signal;
    out << text(keeper.Signal(pid, signal));
  } else if (verb == "acknowledge") {
    std::int64_t pid = 0;
    in >> pid;
    out << text(keeper.Acknowledge(pid));
  } else if (verb == "keep") {  // a memory file with this text
    std::string name, content;
    in >> name >> content;
    const UniqueFd fd(::memfd_create("kept", MFD_CLOEXEC));
    if (::write(fd.get(), content.data(), content.size()) < 0) return "not written";
    out << text(keeper.Keep(name, fd.get()));
  } else if (verb == "drop") {
    std::string name;
    in >> name;
    out << text(keeper.Drop(name));
  } else if (verb == "kept") {
    for (const auto& [name, fd] : keeper.TakeKept()) {
      std::string content(64, ' ');
      const auto got = ::pread(fd.get(), content.data(), content.size(), 0);
      out << name << "=" << content.substr(0, static_cast<std::size_t>(std::max<ssize_t>(got, 0)))
          << " ";
    }
  } else if (verb == "shutdown") {
    out << text(keeper.Shutdown());
  } else if (verb == "die") {
    out << text(keeper.Die());
  } else {
    out << "unknown verb " << verb;
  }
  return out.str();
}

// The agent under the keeper: this program with --agent, which the test controls over a socket.
int RunFakeAgent() {
  const UniqueFd control(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const sockaddr_un address = Address(std::getenv(kControlVariable));
  if (::connect(control.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return 1;
  Loop loop;
  const auto tell = [&](const std::string& what) {
    (void)SendPacket(control.get(), what).has_value();
  };
  auto keeper = KeeperClient::FromEnvironment(
      loop, {.exited = [&](const auto& rank) { tell("exited " + Describe(rank)); },
             .stderr_line =
                 [&](const auto& rank, const std::string& line) {
                   tell("line " + std::to_string(rank.pid) + " " + line);
                 }});
  if (!keeper) {
    tell("failed " + keeper.error().ToString());
    return 1;
  }
  tell("hello " + std::to_string(::getpid()));
  loop.WatchFd(control.get(), POLLIN, [&](short) {
    const auto packet = ReceivePacket(control.get());
    if (!packet) return loop.Stop();
    if (*packet) tell("reply " + Obey(**keeper, (*packet)->bytes));
  });
  loop.Run();
  return 0;
}

// The test's end of that socket.
struct FakeAgent {
  UniqueFd socket;
  pid_t pid = -1;
  std::deque<std::string> events;

  // The next packet that begins with `prefix`, without it; others are kept for later.
  std::string Next(const std::string& prefix) {
    const auto take = [&]() -> std::string {
      for (auto it = events.begin(); it != events.end(); ++it) {
        if (!it->starts_with(prefix)) continue;
        const std::string found = it->substr(prefix.size());
        events.erase(it);
        return found.empty() ? " " : found;
      }
      return {};
    };
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < kLimit) {
      if (std::string found = take(); !found.empty()) return found;
      pollfd watched{socket.get(), POLLIN, 0};
      ::poll(&watched, 1, 100);
      const auto packet = ReceivePacket(socket.get());
      if (!packet) return "(agent gone)";
      if (*packet) events.push_back((*packet)->bytes);
    }
    return "(nothing came)";
  }
  std::string Ask(const std::string& command) {
    if (!SendPacket(socket.get(), command)) return "(agent gone)";
    return Next("reply ");
  }
  std::int64_t Spawn(const std::string& device_tag_script) {
    return std::stoll("0" + Ask("spawn " + device_tag_script));
  }
};

// One keeper in a process of its own; kills and reaps everything at the end.
struct Node {
  QTemporaryDir directory;
  UniqueFd listener;
  pid_t keeper = -1;

  explicit Node(std::vector<std::string> agent_argv = {}) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans of the keeper become children of this process
    const std::string path = (directory.path() + "/control").toStdString();
    listener.Reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const sockaddr_un address = Address(path);
    if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener.get(), 4) != 0) {
      return;
    }
    ::setenv(kControlVariable, path.c_str(), 1);
    if (agent_argv.empty()) {
      agent_argv = {std::filesystem::read_symlink("/proc/self/exe").string(), "--agent"};
    }
    keeper = ::fork();
    if (keeper == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::_exit(RunKeeper({.node = 3,
                         .devices = 2,
                         .device_bytes = kDeviceBytes,
                         .agent_argv = agent_argv,
                         .directory = directory.path().toStdString(),
                         .name_prefix = "test-"}));
    }
  }
  ~Node() {
    tessera::test::SendSignal(keeper, SIGKILL);
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < kLimit) {
      // Processes that ranks started get no death signal, so they become children of the test.
      std::ifstream list("/proc/self/task/" + std::to_string(::getpid()) + "/children");
      for (pid_t pid = 0; list >> pid;) tessera::test::SendSignal(pid, SIGKILL);
      const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
      if (pid < 0) break;
      if (pid == 0) QTest::qSleep(5);
    }
  }
  FakeAgent Agent() {
    FakeAgent agent;
    pollfd watched{listener.get(), POLLIN, 0};
    if (::poll(&watched, 1, kLimit) <= 0) return agent;
    agent.socket.Reset(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::string pid = agent.Next("hello ");
    agent.pid = static_cast<pid_t>(std::atol(pid.c_str()));
    return agent;
  }
  // Wait status of a process that is, or has become, a child of the test; -1 if it stays alive.
  static int Ended(pid_t pid) {
    QElapsedTimer timer;
    timer.start();
    int status = 0;
    while (timer.elapsed() < kLimit) {
      if (::waitpid(pid, &status, WNOHANG) == pid) return status;
      QTest::qSleep(5);
    }
    return -1;
  }
};

bool WaitForFile(const std::string& path) {
  QElapsedTimer timer;
  timer.start();
  while (!std::filesystem::exists(path) && timer.elapsed() < kLimit) QTest::qSleep(10);
  return std::filesystem::exists(path);
}

bool Alive(std::int64_t pid) { return tessera::test::SendSignal(pid, 0); }

}  // namespace

class KeeperTest : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() {
#if defined(__SANITIZE_THREAD__)
    QSKIP("the thread sanitizer follows no threads of a forked process");
#endif
  }

  void arenasArrive() {
    Node node;
    FakeAgent agent = node.Agent();
    QVERIFY(agent.pid > 0);
    QCOMPARE(agent.Ask("arenas"), std::string("0:4194304 1:4194304 "));
    QCOMPARE(agent.Ask("peek 1"), std::string("0"));
  }

  void aRankGetsItsArenaAndNothingElse() {
    Node node;
    FakeAgent agent = node.Agent();
    const auto pid = agent.Spawn(
        "1 tag1 echo given $GIVEN control $TEST_CONTROL_SOCKET; readlink "
        "/proc/$$/fd/$TESSERA_ARENA_FD; "
        "ls /proc/$$/fd; readlink /proc/$$/fd/0; echo to stdout; printf unfinished "
        ">&2; exit 7");
    QVERIFY(pid > 0);
    const std::string line = "line " + std::to_string(pid) + " ";
    QCOMPARE(agent.Next(line), std::string("given yes control"));
    const std::string arena = agent.Next(line);
    QVERIFY2(arena.starts_with("/memfd:test-n3g1"), arena.c_str());
    for (const char* fd : {"0", "1", "2", "3"}) QCOMPARE(agent.Next(line), std::string(fd));
    QCOMPARE(agent.Next(line), std::string("/dev/null"));
    QCOMPARE(agent.Next(line), std::string("to stdout"));
    QCOMPARE(agent.Next(""), line + "unfinished");  // before the exit
    QCOMPARE(agent.Next(""), "exited " + std::to_string(pid) + ":tag1:1:exited with status 7");
    QCOMPARE(agent.Ask("acknowledge " + std::to_string(pid)), std::string("ok"));
    QCOMPARE(agent.Ask("ranks"), std::string(" "));
  }

  void badRequestsAreRefusedByName() {
    Node node;
    FakeAgent agent = node.Agent();
    QCOMPARE(agent.Ask("spawn 2 t true"), std::string("error device 2: node n3 has 2"));
    QCOMPARE(agent.Ask("start /no/such/program"),
             std::string("error cannot start /no/such/program: No such file or directory"));
    QCOMPARE(agent.Ask("signal 1 9"), std::string("error process 1 is not a rank"));
    const auto pid = agent.Spawn("0 t sleep 1000");
    QCOMPARE(agent.Ask("acknowledge " + std::to_string(pid)),
             "error process " + std::to_string(pid) + " has not ended");
    QCOMPARE(agent.Ask("signal " + std::to_string(pid) + " 9"), std::string("ok"));
    QCOMPARE(agent.Next("exited "), std::to_string(pid) + ":t:0:was killed by signal 9 (Killed)");
    QCOMPARE(agent.Ask("signal " + std::to_string(pid) + " 9"),
             "error process " + std::to_string(pid) + " has ended");
  }

  void whatItKeepsSurvivesTheAgent() {
    Node node;
    FakeAgent first = node.Agent();
    QCOMPARE(first.Ask("kept"), std::string(" "));
    QCOMPARE(first.Ask("keep one eins"), std::string("ok"));
    QCOMPARE(first.Ask("keep two zwei"), std::string("ok"));
    QCOMPARE(first.Ask("keep two deux"), std::string("ok"));  // replaces it
    QCOMPARE(first.Ask("drop three"), std::string("error nothing is kept as 'three'"));
    QCOMPARE(first.Ask("keep " + std::string(257, 'x') + " long"),
             std::string("error a name of 257 bytes: from 1 to 256 are taken"));
    QVERIFY(tessera::test::SendSignal(first.pid, SIGKILL));

    FakeAgent second = node.Agent();
    QCOMPARE(second.Ask("kept"), std::string("one=eins two=deux "));
    QCOMPARE(second.Ask("kept"), std::string(" "));  // each agent takes them once
    QCOMPARE(second.Ask("drop one"), std::string("ok"));
    for (int i = 0; i < 255; ++i) {
      QCOMPARE(second.Ask("keep n" + std::to_string(i) + " x"), std::string("ok"));
    }
    QCOMPARE(second.Ask("keep more x"), std::string("error 256 descriptors are kept already"));
    QCOMPARE(second.Ask("keep two again"), std::string("ok"));
  }

  void ranksAndMemorySurviveTheAgent() {
    Node node;
    FakeAgent agent = node.Agent();
    QCOMPARE(agent.Ask("poke 1 123456789"), std::string("123456789"));
    const auto ticking = agent.Spawn("1 ticker while :; do echo tick; sleep 0.02; done");
    const auto ended = agent.Spawn("0 ended echo last words >&2; exit 5");
    agent.Next("line " + std::to_string(ticking) + " ");
    agent.Next("exited ");  // which is not acknowledged
    tessera::test::SendSignal(agent.pid, SIGKILL);

    FakeAgent next = node.Agent();
    QVERIFY(next.pid > 0 && next.pid != agent.pid);
    QCOMPARE(next.Ask("arenas"), std::string("0:4194304 1:4194304 "));
    QCOMPARE(next.Ask("peek 1"), std::string("123456789"));
    const std::string exit = std::to_string(ended) + ":ended:0:exited with status 5";
    const std::string ranks = next.Ask("ranks");
    QVERIFY2(ranks.find(std::to_string(ticking) + ":ticker:1:alive ") != std::string::npos,
             ranks.c_str());
    QVERIFY2(ranks.find(exit + " ") != std::string::npos, ranks.c_str());
    QCOMPARE(next.Next("exited "), exit);
    QCOMPARE(next.Next("line " + std::to_string(ticking) + " "), std::string("tick"));
    QCOMPARE(next.Ask("acknowledge " + std::to_string(ended)), std::string("ok"));
    QVERIFY(Alive(ticking));
    tessera::test::SendSignal(next.pid, SIGKILL);

    FakeAgent third = node.Agent();
    QCOMPARE(third.Ask("ranks"), std::to_string(ticking) + ":ticker:1:alive ");
  }

  void aRankDoesNotBlockOnItsOutputWhileTheAgentDoesNotRead() {
    Node node;
    FakeAgent agent = node.Agent();
    tessera::test::SendSignal(agent.pid, SIGSTOP);
    const std::string done = (node.directory.path() + "/done").toStdString();
    tessera::test::SendSignal(agent.pid, SIGCONT);
    const auto pid = agent.Spawn("0 t sleep 0.3; head -c 1000000 /dev/zero | tr '\\0' x; touch " +
                                 done + "; sleep 1000");
    tessera::test::SendSignal(agent.pid, SIGSTOP);
    QVERIFY(WaitForFile(done));
    QVERIFY(Alive(pid));
    tessera::test::SendSignal(agent.pid, SIGCONT);
    QCOMPARE(agent.Ask("ranks"), std::to_string(pid) + ":t:0:alive ");
  }

  void killingTheKeeperEndsEverything_data() {
    QTest::addColumn<bool>("by_request");
    QTest::newRow("kill -9") << false;
    QTest::newRow("the agent asks it to die") << true;
  }
  void killingTheKeeperEndsEverything() {
    QFETCH(bool, by_request);
    Node node;
    FakeAgent agent = node.Agent();
    const auto rank = agent.Spawn("0 t trap '' TERM INT HUP; exec sleep 1000");
    QVERIFY(Alive(rank));
    if (by_request) {
      QVERIFY(SendPacket(agent.socket.get(), "die").has_value());
    } else {
      tessera::test::SendSignal(node.keeper, SIGKILL);
    }
    int status = Node::Ended(node.keeper);
    QVERIFY(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    node.keeper = -1;
    for (const auto pid : {agent.pid, static_cast<pid_t>(rank)}) {
      status = Node::Ended(pid);
      QVERIFY2(status != -1 && WIFSIGNALED(status), "still alive");
    }
  }

  void theEndIsCleanAndComplete_data() {
    QTest::addColumn<bool>("by_request");
    QTest::newRow("SIGTERM") << false;
    QTest::newRow("the agent asks for it") << true;
  }
  void theEndIsCleanAndComplete() {
    QFETCH(bool, by_request);
    Node node;
    FakeAgent agent = node.Agent();
    // Ignores all signals that can be ignored, and leaves an orphan in a process group of its own.
    const auto rank =
        agent.Spawn("0 t trap '' TERM; (setsid sleep 1000 & echo orphan); sleep 1000");
    agent.Next("line " + std::to_string(rank) + " orphan");
    if (by_request) {
      const std::string answer = agent.Ask("shutdown");  // SIGTERM may overtake its report
      QVERIFY2(answer == "ok" || answer == "(agent gone)", answer.c_str());
    } else {
      tessera::test::SendSignal(node.keeper, SIGTERM);
    }
    const int status = Node::Ended(node.keeper);
    QVERIFY(status != -1 && WIFEXITED(status));
    QCOMPARE(WEXITSTATUS(status), 0);
    node.keeper = -1;
    // The test is the subreaper above the keeper, so no process may have become its child.
    QCOMPARE(::waitpid(-1, nullptr, WNOHANG), -1);
    QVERIFY(!Alive(rank));
  }

  void anAgentThatCannotLiveIsNotRestartedWithoutEnd() {
    QTemporaryDir directory;
    const std::string log = (directory.path() + "/starts").toStdString();
    QElapsedTimer clock;
    clock.start();
    Node node({"/bin/sh", "-c", "echo start >> " + log + "; exit 1"});
    const auto starts = [&] {
      std::ifstream file(log);
      std::string line;
      int count = 0;
      while (std::getline(file, line)) ++count;
      return count;
    };
    QTRY_VERIFY_WITH_TIMEOUT(starts() >= 4, kLimit);  // after pauses of 0.1, 0.2 and 0.4 s
    QVERIFY2(clock.elapsed() >= 700, std::to_string(clock.elapsed()).c_str());
    QVERIFY(starts() <= 5);
  }

  void aNodeHasOneKeeper() {
    Node node;
    QVERIFY(node.Agent().pid > 0);
    const pid_t second = ::fork();
    if (second == 0) {
      ::_exit(RunKeeper({.node = 3,
                         .devices = 1,
                         .device_bytes = kDeviceBytes,
                         .agent_argv = {"/bin/true"},
                         .directory = node.directory.path().toStdString(),
                         .name_prefix = "test-"}));
    }
    const int status = Node::Ended(second);
    QVERIFY(WIFEXITED(status));
    QCOMPARE(WEXITSTATUS(status), 1);
  }

  // The fixture starts a keeper of two devices.
  void theMemoryMadeIsOnRecord() {
    Node node;
    QVERIFY(node.Agent().pid > 0);
    const auto progress = ReadMemoryProgress(node.directory.path().toStdString());
    QVERIFY(progress);
    QVERIFY(*progress == (MemoryProgress{2 * kDeviceBytes, 2 * kDeviceBytes}));
  }

  void aWaitLastsAsLongAsMemoryGrows() {
    const QTemporaryDir first, second;
    const std::string a = first.path().toStdString(), b = second.path().toStdString();
    const MemoryWatch::Clock::time_point begin{};
    MemoryWatch watch({a, b}, std::chrono::seconds(45), begin);
    const auto isOverAt = [&](int seconds) {
      return watch.IsOver(begin + std::chrono::seconds(seconds));
    };
    QVERIFY(!isOverAt(44));
    WriteMemoryProgress(b, {1, 100});
    QVERIFY(!isOverAt(50));  // it grew: 45 s from this point on
    QVERIFY(!isOverAt(94));
    WriteMemoryProgress(a, {7, 100});
    QVERIFY(!isOverAt(96));
    QVERIFY(watch.progress() == (MemoryProgress{8, 200}));
    QVERIFY(!isOverAt(140));
    QVERIFY(isOverAt(141));
    std::ofstream(a + "/keeper.memory") << "no numbers";
    QVERIFY(!ReadMemoryProgress(a));
  }

  void withoutAKeeperThereIsNoClient() {
    Loop loop;
    const auto client = KeeperClient::FromEnvironment(loop, {});
    QVERIFY(!client);
    QCOMPARE(client.error().code, ErrorCode::kFailedPrecondition);
  }
};

TESSERA_TEST_MAIN(argc, argv) {
  if (argc > 1 && std::strcmp(argv[1], "--agent") == 0) return RunFakeAgent();
  KeeperTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "keeper_test.moc"
