// SPDX-License-Identifier: Apache-2.0
// One battery for both decision registers, and what only etcd can do: lose members.
#include <QElapsedTimer>
#include <QTest>
#include <QThread>
#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "agents/decision/base64.h"
#include "agents/decision/embedded.h"
#include "agents/decision/etcd_register.h"
#include "agents/decision/table_revision.h"
#include "agents/net/loop.h"
#include "engine/history/journal.h"
#include "tests/support/etcd_servers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using engine::AbortOf;
using engine::Decision;
using tessera::test::EtcdServers;

namespace {

const Decision kCommit{true, 7, 3, "00112233aabbccdd", 41};

/// One user of a register: its own loop, thread and connection.
class User {
 public:
  /// In etcd, or in the journal of the file.
  User(const std::optional<EtcdPlace>& place, const QString& file) {
    if (place) {
      decisions_ = std::make_unique<EtcdRegister>(loop_, *place);
    } else {
      journal_ = *engine::Journal::Open(file.toStdString());
      decisions_ = std::make_unique<EmbeddedRegister>(*journal_);
    }
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ~User() {
    Do([this] { decisions_.reset(); });
    loop_.Stop();
    thread_.join();
  }
  /// Runs it on the loop and waits for its end.
  void Do(const std::function<void()>& act) {
    std::promise<void> done;
    loop_.Post([&] {
      act();
      done.set_value();
    });
    done.get_future().wait();
  }
  Result<Decision> Write(const std::string& job, std::int64_t slot, const Decision& decision) {
    return Ask<Result<Decision>>(
        [&](auto then) { decisions_->Write(job, slot, decision, std::move(then)); });
  }
  Result<std::optional<Decision>> Read(const std::string& job, std::int64_t slot) {
    return Ask<Result<std::optional<Decision>>>(
        [&](auto then) { decisions_->Read(job, slot, std::move(then)); });
  }
  Result<std::int64_t> FindLast(const std::string& job) {
    return Ask<Result<std::int64_t>>(
        [&](auto then) { decisions_->FindLast(job, std::move(then)); });
  }
  engine::RegisterStatus Look() {
    return Ask<engine::RegisterStatus>([&](auto then) { decisions_->Look(std::move(then)); });
  }
  /// On the loop.
  std::unique_ptr<engine::DecisionRegister>& decisions() { return decisions_; }

 private:
  template <typename T, typename Act>
  T Ask(Act act) {
    std::promise<T> answer;
    loop_.Post([&] { act([&answer](T held) { answer.set_value(std::move(held)); }); });
    return answer.get_future().get();
  }

  Loop loop_;
  std::unique_ptr<engine::Journal> journal_;
  std::unique_ptr<engine::DecisionRegister> decisions_;
  std::thread thread_;
};

/// Writes slots 1 to `count`, a commit of `transaction` to each, with pauses between.
/// \return the value of each slot, as the register answered
std::map<int, Decision> WriteSlots(User& user, std::int64_t transaction, int count,
                                   std::chrono::milliseconds pause) {
  Decision wanted = kCommit;
  wanted.transaction = transaction;
  std::map<int, Decision> told;
  for (int slot = 1; slot <= count; ++slot) {
    // The register may be busy or out of reach: without an answer the writer repeats the write.
    auto held = user.Write("job", slot, wanted);
    while (!held) held = user.Write("job", slot, wanted);
    told[slot] = *held;
    std::this_thread::sleep_for(pause);
  }
  return told;
}

}  // namespace

class DecisionRegisterTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<EtcdServers> m_servers;
  std::unique_ptr<QTemporaryDir> m_folder;

  /// A user of the store of this row. Each function has rows of its own.
  std::unique_ptr<User> NewUser() {
    std::optional<EtcdPlace> place;
    if (QLatin1String(QTest::currentDataTag()) != QLatin1String("embedded")) {
      place = m_servers->place(std::string("/test/") + QTest::currentTestFunction());
    }
    return std::make_unique<User>(place,
                                  m_folder->filePath(QLatin1String(QTest::currentTestFunction())));
  }
  static void Stores() {
    QTest::addColumn<int>("unused");
    QTest::newRow("embedded") << 0;
    QTest::newRow("etcd") << 0;
  }

 private slots:
  void initTestCase() {
    m_folder = test::TemporaryFolder();
    if (!EtcdServers::WhyNot().isEmpty()) return;
    m_servers = std::make_unique<EtcdServers>(3);
    QVERIFY2(m_servers->is_up(), qPrintable(m_servers->problem()));
  }
  void init() {
    const char* const row = QTest::currentDataTag();
    const bool needs_etcd = row == nullptr || QLatin1String(row) == QLatin1String("etcd");
    if (needs_etcd && !m_servers) QSKIP(qPrintable(EtcdServers::WhyNot()));
  }

  void base64() {
    for (const std::string& bytes : {std::string(), std::string("a"), std::string("ab"),
                                     std::string("abc"), std::string("\0\xff\x10", 3)}) {
      QCOMPARE(DecodeBase64(EncodeBase64(bytes)), std::optional(bytes));
    }
    QCOMPARE(EncodeBase64("/tessera"), std::string("L3Rlc3NlcmE="));
    QVERIFY(!DecodeBase64("abc"));
    QVERIFY(!DecodeBase64("a?=="));
  }

  void theFirstWriteWins_data() { Stores(); }
  void theFirstWriteWins() {
    const auto first = NewUser(), second = NewUser();
    QCOMPARE(*first->Read("job", 1), std::optional<Decision>());
    QCOMPARE(*first->Write("job", 1, kCommit), kCommit);
    QCOMPARE(*second->Write("job", 1, AbortOf(7)), kCommit);
    QCOMPARE(*second->Read("job", 1), std::optional(kCommit));
    QCOMPARE(*first->Write("job", 1, kCommit), kCommit);  // its writer may ask again
  }

  void aTableRevisionIsOnlyRaised() {
    const EtcdPlace place = m_servers->place("/test/table");
    EtcdClient first(place), second(place);
    QCOMPARE(*GetTableRevision(first, place.prefix), std::int64_t{0});
    QCOMPARE(*RaiseTableRevision(first, place.prefix, 7), std::int64_t{7});
    QCOMPARE(*RaiseTableRevision(second, place.prefix, 9), std::int64_t{9});
    // An earlier registrar that is not off after all.
    QCOMPARE(*RaiseTableRevision(first, place.prefix, 8), std::int64_t{9});
    QCOMPARE(*GetTableRevision(first, place.prefix), std::int64_t{9});
    QVERIFY(ForgetTableRevision(second, place.prefix));
    QCOMPARE(*GetTableRevision(first, place.prefix), std::int64_t{0});
    QCOMPARE(*RaiseTableRevision(first, place.prefix, 8), std::int64_t{8});
    QCOMPARE(*first.Replace("/test/table/registrar-table", "8", "x"), std::string("x"));
    QCOMPARE(RaiseTableRevision(first, place.prefix, 9).error().code, ErrorCode::kDataLoss);
  }

  void aTableRevisionIsNotedOnTheLoopOfItsUser() {
    const EtcdPlace place = m_servers->place("/test/noted");
    Loop loop;
    std::string printed;
    TableRevision revision(loop, place, [&](const std::string& line) { printed = line; });
    revision.Note(4);
    revision.Note(5);
    // Asks until etcd has answered with what was noted.
    const auto period = loop.Every(std::chrono::milliseconds(20), [&] {
      if (revision.Latest() == std::optional<std::int64_t>(5)) loop.Stop();
    });
    const auto limit = loop.After(std::chrono::seconds(60), [&] { loop.Stop(); });
    loop.Run();
    QVERIFY2(printed.empty(), printed.c_str());
    QCOMPARE(revision.Latest(), std::optional<std::int64_t>(5));
    loop.Cancel(period);
    loop.Cancel(limit);
  }

  void anAbortHoldsToo_data() { Stores(); }
  void anAbortHoldsToo() {
    const auto user = NewUser();
    QCOMPARE(*user->Write("job", 1, AbortOf(7)), AbortOf(7));
    QCOMPARE(*user->Write("job", 1, kCommit), AbortOf(7));
  }

  void slotsAndJobsAreApart_data() { Stores(); }
  void slotsAndJobsAreApart() {
    const auto user = NewUser();
    QCOMPARE(*user->FindLast("a"), std::int64_t{0});
    for (const std::int64_t slot : {1, 2, 9, 10, 11}) {
      QVERIFY(user->Write("a", slot, AbortOf(slot)));
    }
    QVERIFY(user->Write("a-b", 200, AbortOf(1)));
    QVERIFY(user->Write("aa", 300, AbortOf(1)));
    QCOMPARE(*user->FindLast("a"), std::int64_t{11});
    QCOMPARE(*user->FindLast("a-b"), std::int64_t{200});
    QCOMPARE(*user->FindLast("b"), std::int64_t{0});
    QCOMPARE(*user->Read("a", 10), std::optional(AbortOf(10)));
    QCOMPARE(*user->Read("a", 3), std::optional<Decision>());
  }

  void aNewProcessReadsIt_data() { Stores(); }
  void aNewProcessReadsIt() {
    QCOMPARE(*NewUser()->Write("job", 4, kCommit), kCommit);
    QCOMPARE(*NewUser()->Read("job", 4), std::optional(kCommit));
  }

  void racingWritersAgree_data() { Stores(); }
  void racingWritersAgree() {
    constexpr int kSlots = 100, kWriters = 3;
    std::array<std::map<int, Decision>, kWriters> told;
    {
      std::vector<std::unique_ptr<User>> users;
      for (int w = 0; w < kWriters; ++w) users.push_back(NewUser());
      std::vector<std::jthread> threads;
      for (std::size_t w = 0; w < kWriters; ++w) {
        threads.emplace_back(
            [&, w] { told[w] = WriteSlots(*users[w], static_cast<std::int64_t>(w), kSlots, {}); });
      }
    }
    std::set<std::int64_t> winners;
    const auto reader = NewUser();
    for (int slot = 1; slot <= kSlots; ++slot) {
      const auto held = reader->Read("job", slot);
      QVERIFY(held && *held);
      for (const auto& writer : told) QCOMPARE(writer.at(slot), **held);
      winners.insert((*held)->transaction);
    }
    QCOMPARE(*reader->FindLast("job"), std::int64_t{kSlots});
    QVERIFY(!winners.empty());
  }

  void nothingIsAnsweredAfterItsEnd_data() { Stores(); }
  void nothingIsAnsweredAfterItsEnd() {
    const auto user = NewUser();
    bool is_over = false, answered_late = false;
    user->Do([&] {
      user->decisions()->Write("job", 1, kCommit, [&](const auto&) { answered_late = is_over; });
      user->decisions().reset();
      is_over = true;
    });
    QThread::msleep(200);
    user->Do([] {});  // what was posted before has run
    QVERIFY(!answered_late);
  }

  void itSaysHowItIs_data() { Stores(); }
  void itSaysHowItIs() {
    const engine::RegisterStatus status = NewUser()->Look();
    QCOMPARE(status.store, std::string(QTest::currentDataTag()));
    QVERIFY2(status.problem.empty(), status.problem.c_str());
    QCOMPARE(status.members.size(), status.store == "etcd" ? std::size_t{3} : std::size_t{1});
    if (status.store != "etcd") return;
    int leaders = 0;
    for (const engine::RegisterMember& member : status.members) {
      QVERIFY2(member.problem.empty(), member.problem.c_str());
      QVERIFY(!member.version.empty());
      leaders += member.leads ? 1 : 0;
    }
    QCOMPARE(leaders, 1);
  }

  // ---- etcd

  void aMemberIsKilled() {
    const auto user = NewUser();
    QVERIFY(user->Write("job", 1, kCommit));
    for (int killed = 0; killed < 3; ++killed) {
      m_servers->Kill(killed);
      // The others may have to choose a leader first.
      const std::int64_t slot = killed + 2;
      QTRY_VERIFY_WITH_TIMEOUT(user->Write("job", slot, AbortOf(slot)), 20'000);
      QCOMPARE(*user->Read("job", 1), std::optional(kCommit));
      const engine::RegisterStatus status = user->Look();
      QVERIFY2(status.problem.empty(), status.problem.c_str());
      QVERIFY(!status.members[static_cast<std::size_t>(killed)].problem.empty());
      m_servers->Start(killed);
      QVERIFY(m_servers->WaitUntilItAnswers());
    }
    QCOMPARE(*user->FindLast("job"), std::int64_t{4});
  }

  // It accepts connections, and does not answer.
  void aMemberIsHalted() {
    const auto user = NewUser();
    QVERIFY(user->Write("job", 1, kCommit));
    m_servers->Halt(0);
    QTRY_VERIFY_WITH_TIMEOUT(user->Write("job", 2, AbortOf(2)), 20'000);
    QElapsedTimer elapsed;
    elapsed.start();
    QVERIFY(user->Write("job", 3, AbortOf(3)));  // goes to a member that answers, at once
    QVERIFY2(elapsed.elapsed() < EtcdClient::kPatience.count(),
             QByteArray::number(elapsed.elapsed()));
    m_servers->Continue(0);
    QVERIFY(m_servers->WaitUntilItAnswers());
  }

  void withoutAMajorityNothingIsDecided() {
    const auto user = NewUser();
    QVERIFY(user->Write("job", 1, kCommit));
    m_servers->Kill(0);
    m_servers->Kill(1);
    const auto held = user->Write("job", 2, kCommit);
    QVERIFY(!held);
    QCOMPARE(held.error().code, ErrorCode::kUnavailable);
    for (const std::string& endpoint : m_servers->place().endpoints) {
      QVERIFY2(held.error().message.find(endpoint) != std::string::npos,
               held.error().message.c_str());
    }
    QVERIFY(!user->Read("job", 1));  // a read that is not confirmed could be old
    QVERIFY(!user->Look().problem.empty());
    m_servers->Start(0);
    QVERIFY(m_servers->WaitUntilItAnswers());
    // Whether the write had an effect is unknown; asked again, it holds one value for ever.
    const auto again = user->Write("job", 2, kCommit);
    QVERIFY(again);
    QCOMPARE(*again, kCommit);
    QCOMPARE(*NewUser()->Write("job", 2, AbortOf(7)), kCommit);
    m_servers->Start(1);
    QVERIFY(m_servers->WaitUntilItAnswers());
  }

  // While members end and return, every answer about a slot is the same value.
  void writersAgreeWhileMembersAreKilled() {
    constexpr int kSlots = 150, kWriters = 2;
    std::array<std::map<int, Decision>, kWriters> told;
    std::array<std::unique_ptr<User>, kWriters> users{NewUser(), NewUser()};
    std::atomic<int> running = kWriters;
    {
      std::vector<std::jthread> threads;
      for (std::size_t w = 0; w < kWriters; ++w) {
        threads.emplace_back([&, w] {
          constexpr std::chrono::milliseconds kPause{10};
          told[w] = WriteSlots(*users[w], static_cast<std::int64_t>(w), kSlots, kPause);
          --running;
        });
      }
      for (int killed = 0; running > 0; killed = (killed + 1) % 3) {
        m_servers->Kill(killed);
        QThread::msleep(300);
        m_servers->Start(killed);
        QThread::msleep(700);
      }
    }
    QVERIFY(m_servers->WaitUntilItAnswers());
    const auto reader = NewUser();
    for (int slot = 1; slot <= kSlots; ++slot) {
      const auto held = reader->Read("job", slot);
      QVERIFY(held && *held);
      for (const auto& writer : told) QCOMPARE(writer.at(slot), **held);
    }
  }

  void aMemberOfAnotherClusterIsRefused() {
    EtcdServers other(1, m_servers.get());
    QVERIFY2(other.is_up(), qPrintable(other.problem()));
    EtcdPlace place = m_servers->place();
    place.endpoints = {place.endpoints[0], other.place().endpoints[0]};
    User user(place, {});
    for (int attempt = 0; attempt < 2; ++attempt) {
      const auto held = user.Write("strange", 1, kCommit);
      QVERIFY(!held);
      QCOMPARE(held.error().code, ErrorCode::kFailedPrecondition);
      QVERIFY2(held.error().message.find("of etcd cluster") != std::string::npos,
               held.error().message.c_str());
    }
    // Nothing is written to either.
    QCOMPARE(*User(other.place(), {}).FindLast("strange"), std::int64_t{0});
    QCOMPARE(*User(m_servers->place(), {}).FindLast("strange"), std::int64_t{0});
    QVERIFY(!user.Look().problem.empty());
    // A member that is down at first is refused at its first request.
    other.Kill(0);
    QVERIFY(user.Write("strange", 2, kCommit));
    other.Start(0);
    QVERIFY(other.WaitUntilItAnswers());
    m_servers->Kill(0);
    const auto held = user.Write("strange", 3, kCommit);
    QVERIFY(!held);
    QCOMPARE(held.error().code, ErrorCode::kFailedPrecondition);
    QCOMPARE(*User(other.place(), {}).FindLast("strange"), std::int64_t{0});
    m_servers->Start(0);
    QVERIFY(m_servers->WaitUntilItAnswers());
  }

  void aClientWithoutACertificateIsRefused() {
    EtcdPlace place = m_servers->place();
    place.certificate.clear();
    place.key.clear();
    User user(place, {});
    const auto held = user.Write("job", 1, kCommit);
    QVERIFY(!held);
    QCOMPARE(held.error().code, ErrorCode::kUnavailable);
  }

  void aServerOfAnotherAuthorityIsRefused() {
    EtcdPlace place = m_servers->place();
    place.authorities.clear();  // those of the machine do not know it
    User user(place, {});
    const auto held = user.Read("job", 1);
    QVERIFY(!held);
    QVERIFY2(held.error().message.find("certificate") != std::string::npos,
             held.error().message.c_str());
  }

  void whatIsNoDecisionIsNamed() {
    const std::string prefix = "/test/garbage";
    EtcdClient client(m_servers->place());
    const std::string key = prefix + "/decision/job/0000000000000000001";
    QCOMPARE(*client.PutIfAbsent(key, "maybe"), std::string("maybe"));
    QCOMPARE(*client.Get(key), std::optional<std::string>("maybe"));
    User user(m_servers->place(prefix), {});
    const auto held = user.Write("job", 1, kCommit);
    QVERIFY(!held);
    QCOMPARE(held.error().code, ErrorCode::kDataLoss);
    QVERIFY2(held.error().message.find(key) != std::string::npos, held.error().message.c_str());
  }
};

TESSERA_TEST(DecisionRegisterTest)
#include "decision_register_test.moc"
