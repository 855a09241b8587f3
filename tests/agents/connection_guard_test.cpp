// SPDX-License-Identifier: Apache-2.0
#include "agents/net/connection_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <QTest>
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/net/socket.h"
#include "tests/support/hostile_peers.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using namespace tessera::test;
using namespace std::chrono_literals;

namespace {

constexpr ConnectionLimits kMany{.in_all = 1000, .of_a_key = 1000, .silent = 1000};

/// A connection that neither sends nor reads.
class Silent {
 public:
  explicit Silent(const std::string& endpoint) : fd_(ConnectTo(endpoint)) {}
  ~Silent() { ::close(fd_); }
  Silent(const Silent&) = delete;
  Silent& operator=(const Silent&) = delete;
  bool IsOpen() const {
    // The server greets first, so there may be something to read.
    char bytes[256];
    for (;;) {
      const ssize_t size = ::recv(fd_, bytes, sizeof bytes, MSG_DONTWAIT);
      if (size == 0) return false;
      if (size < 0) return errno == EAGAIN;
    }
  }

  int fd() const { return fd_; }
  /// Of this end.
  std::uint16_t port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }

 private:
  int fd_ = -1;
};

/// A server's socket and clients of it.
class Server {
 public:
  explicit Server(ConnectionLimits limits, SocketKind kind = SocketKind::kRouter)
      : context(1, limits), socket(*Socket::Server(context, kind, keys)) {
    endpoint = *socket.Bind("tcp://127.0.0.1:*");
  }
  Socket Connect(const CurveKeys& own, SocketKind kind = SocketKind::kDealer) {
    auto client = *Socket::Client(context, kind, own, keys.public_key);
    if (!client.Monitor(context) || !client.Connect(endpoint)) qFatal("cannot connect");
    return client;
  }
  /// Whether a message of `client` arrives.
  bool Hears(Socket& client) {
    const std::string text = std::to_string(++num_sent);
    std::vector<Frame> frames;
    frames.push_back(Frame::Of(text));
    if (!client.Send(std::move(frames))) return false;
    return QTest::qWaitFor(
        [&] {
          const auto message = socket.Receive();
          return message && *message && (**message).Text(1) == text;
        },
        5000);
  }
  /// Whether one arrives.
  bool HasSubscription() {
    return QTest::qWaitFor(
        [&] {
          const auto message = socket.Receive();
          return message && message->has_value();
        },
        5000);
  }
  std::size_t num_open() const { return context.connections().num_open(); }
  bool WaitOpen(std::size_t count) {
    return QTest::qWaitFor([&] { return num_open() == count; }, 5000);
  }

  const CurveKeys keys = NewCurveKeys();
  NetContext context;
  Socket socket;
  std::string endpoint;
  int num_sent = 0;
};

bool HasEvent(Socket& client, LinkEvent::Kind kind, int milliseconds = 5000) {
  return QTest::qWaitFor(
      [&] {
        while (const auto event = client.NextLinkEvent()) {
          if (event->kind == kind) return true;
        }
        return false;
      },
      milliseconds);
}

}  // namespace

class ConnectionGuardTest : public QObject {
  Q_OBJECT
 private slots:
  void connectionsAreCountedUntilTheyEnd() {
    Server server(kMany);
    const CurveKeys own = NewCurveKeys();
    server.context.SetAllowed({own.public_key});
    {
      Socket client = server.Connect(own);
      QVERIFY(HasEvent(client, LinkEvent::Kind::kReady));
      std::vector<std::unique_ptr<Silent>> silent;
      for (int i = 0; i < 20; ++i) silent.push_back(std::make_unique<Silent>(server.endpoint));
      QVERIFY(server.WaitOpen(21));
      QVERIFY(server.Hears(client));
    }
    QVERIFY(server.WaitOpen(0));
    QCOMPARE(server.context.connections().num_closed(), std::int64_t{0});
  }

  void bytesThatAreNoProtocolAreForgotten() {
    Server server(kMany);
    for (int i = 0; i < 20; ++i) {
      const int fd = ConnectTo(server.endpoint);
      QVERIFY(fd >= 0);
      QCOMPARE(::send(fd, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL), ssize_t{18});
      ::close(fd);
    }
    QVERIFY(QTest::qWaitFor([&] { return server.num_open() == 0; }, 5000));
  }

  // Each new one displaces the oldest, so a client gets in at any time.
  void theOldestOfThoseThatSayNothingGoes() {
    Server server({.in_all = 1000, .of_a_key = 1000, .silent = 8});
    const CurveKeys own = NewCurveKeys();
    server.context.SetAllowed({own.public_key});
    std::vector<std::unique_ptr<Silent>> silent;
    for (int i = 0; i < 100; ++i) {
      silent.push_back(std::make_unique<Silent>(server.endpoint));
      if (i % 20 != 0) continue;
      Socket client = server.Connect(own);
      QVERIFY(HasEvent(client, LinkEvent::Kind::kReady));
      QVERIFY(server.Hears(client));
    }
    const auto num_open = [&] {
      return std::ranges::count_if(silent, [](const auto& one) { return one->IsOpen(); });
    };
    QVERIFY(QTest::qWaitFor([&] { return num_open() == 8; }, 5000));
    for (std::size_t i = 0; i < silent.size(); ++i) QCOMPARE(silent[i]->IsOpen(), i >= 92);
    // A client may be among the eight for a moment.
    const std::int64_t num_closed = server.context.connections().num_closed();
    QVERIFY2(num_closed >= 92 && num_closed <= 97, std::to_string(num_closed).c_str());
  }

  void aSubscriberStaysWhenOthersSayNothing() {
    Server server({.in_all = 1000, .of_a_key = 1000, .silent = 4}, SocketKind::kPub);
    const CurveKeys own = NewCurveKeys();
    server.context.SetAllowed({own.public_key});
    Socket client = server.Connect(own, SocketKind::kSub);
    QVERIFY(client.Subscribe(""));
    QVERIFY(server.HasSubscription());
    std::vector<std::unique_ptr<Silent>> silent;
    for (int i = 0; i < 50; ++i) silent.push_back(std::make_unique<Silent>(server.endpoint));
    QVERIFY(server.WaitOpen(5));
    QVERIFY(!HasEvent(client, LinkEvent::Kind::kDisconnected, 50));
  }

  void aKeyHasOnlySoManyAndOthersHaveTheirs() {
    Server server({.in_all = 1000, .of_a_key = 3, .silent = 1000});
    const CurveKeys own = NewCurveKeys(), other = NewCurveKeys();
    server.context.SetAllowed({own.public_key, other.public_key});
    std::vector<Socket> clients;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(server.Connect(own));
      QVERIFY(server.Hears(clients.back()));
    }
    Socket fourth = server.Connect(own);
    QVERIFY(server.Hears(fourth));
    QVERIFY(HasEvent(fourth, LinkEvent::Kind::kDisconnected));
    Socket of_other = server.Connect(other);
    QVERIFY(server.Hears(of_other));
    for (Socket& client : clients) QVERIFY(!HasEvent(client, LinkEvent::Kind::kDisconnected, 50));
    QVERIFY(!HasEvent(of_other, LinkEvent::Kind::kDisconnected, 50));
  }

  void theTotalIsBounded() {
    Server server({.in_all = 10, .of_a_key = 1000, .silent = 1000});
    std::vector<std::unique_ptr<Silent>> silent;
    for (int i = 0; i < 50; ++i) silent.push_back(std::make_unique<Silent>(server.endpoint));
    // Before that, ten may be open because no more have been accepted.
    QTRY_COMPARE(server.context.connections().num_closed(), std::int64_t{40});
    QVERIFY(server.WaitOpen(10));
    QTRY_COMPARE(std::ranges::count_if(silent, [](const auto& s) { return s->IsOpen(); }), 10);
  }

  void aRevokedKeyLosesItsConnectionAndOthersKeepTheirs() {
    Server server(kMany);
    const CurveKeys own = NewCurveKeys(), other = NewCurveKeys();
    server.context.SetAllowed({own.public_key, other.public_key});
    Socket client = server.Connect(own), of_other = server.Connect(other);
    QVERIFY(server.Hears(client));
    QVERIFY(server.Hears(of_other));
    server.context.SetAllowed({own.public_key, other.public_key, NewCurveKeys().public_key});
    QVERIFY(!HasEvent(client, LinkEvent::Kind::kDisconnected, 50));
    server.context.SetAllowed({other.public_key});
    QVERIFY(HasEvent(client, LinkEvent::Kind::kDisconnected));
    QVERIFY(HasEvent(client, LinkEvent::Kind::kRefused));
    QVERIFY(!HasEvent(of_other, LinkEvent::Kind::kDisconnected, 50));
    QVERIFY(server.Hears(of_other));
    QVERIFY(server.WaitOpen(1));
    // It is no limit that has closed them.
    QCOMPARE(server.context.connections().num_closed(), std::int64_t{0});
  }

  void subscribersOfARevokedKeyGoToo() {
    Server server(kMany, SocketKind::kPub);
    const CurveKeys own = NewCurveKeys(), other = NewCurveKeys();
    server.context.SetAllowed({own.public_key, other.public_key});
    Socket client = server.Connect(own, SocketKind::kSub);
    Socket of_other = server.Connect(other, SocketKind::kSub);
    for (Socket* const each : {&client, &of_other}) {
      QVERIFY(each->Subscribe(""));
      QVERIFY(server.HasSubscription());
    }
    server.context.SetAllowed({other.public_key});
    QVERIFY(HasEvent(client, LinkEvent::Kind::kRefused));
    QVERIFY(!HasEvent(of_other, LinkEvent::Kind::kDisconnected, 50));
    QVERIFY(server.WaitOpen(1));
  }

  // Nobody can tell whose they are.
  void thoseThatHaveSaidNothingGoWithARevokedKey() {
    Server server(kMany);
    const CurveKeys own = NewCurveKeys(), other = NewCurveKeys();
    server.context.SetAllowed({own.public_key, other.public_key});
    Socket client = server.Connect(own), of_other = server.Connect(other);
    QVERIFY(HasEvent(client, LinkEvent::Kind::kReady));
    QVERIFY(HasEvent(of_other, LinkEvent::Kind::kReady));
    server.context.SetAllowed({other.public_key});
    QVERIFY(HasEvent(client, LinkEvent::Kind::kRefused));
    QVERIFY(HasEvent(of_other, LinkEvent::Kind::kReady));
    QVERIFY(server.Hears(of_other));
  }

  // A connection ends, and a newer one has its descriptor when its messages are read.
  void messagesThatAreReadLateAreNotANewerConnections() {
    ConnectionGuard guard({.in_all = 10, .of_a_key = 1, .silent = 10},
                          [](std::string_view) { return true; });
    const int door = guard.AddDoor(true);
    Server server(kMany);  // only for a descriptor
    const Silent silent(server.endpoint);
    const std::uint16_t port = silent.port();
    guard.OnAccepted(door, silent.fd(), port);
    const std::uint64_t early = guard.NewTicket();
    guard.OnMessage(door, silent.fd(), "K", early);
    guard.OnClosed(door, silent.fd());
    QCOMPARE(guard.num_open(), std::size_t{0});
    guard.OnAccepted(door, silent.fd(), port);
    const std::uint64_t late = guard.NewTicket();
    guard.OnMessage(door, silent.fd(), "K", early);
    guard.OnMessage(door, silent.fd(), "B", late);
    // Had the first message counted, its owner would have too many now.
    const Silent another(server.endpoint);
    guard.OnAccepted(door, another.fd(), another.port());
    guard.OnMessage(door, another.fd(), "K", guard.NewTicket());
    QCOMPARE(guard.num_closed(), std::int64_t{0});
    QVERIFY(silent.IsOpen() && another.IsOpen());
    guard.OnClosed(door, another.fd());
    const Silent third(server.endpoint);
    guard.OnAccepted(door, third.fd(), third.port());
    guard.OnMessage(door, third.fd(), "B", guard.NewTicket());
    QCOMPARE(guard.num_closed(), std::int64_t{1});
    QVERIFY(QTest::qWaitFor([&] { return !third.IsOpen(); }, 5000));
  }

  // What ZeroMQ reports late may be something else's descriptor by then.
  void aDescriptorOfAnotherPortIsNoConnection() {
    ConnectionGuard guard(kMany, [](std::string_view) { return true; });
    const int door = guard.AddDoor(true);
    Server server(kMany);
    const Silent silent(server.endpoint);
    guard.OnAccepted(door, silent.fd(), static_cast<std::uint16_t>(silent.port() + 1));
    guard.OnAccepted(door, STDIN_FILENO, 0);
    guard.OnAccepted(door, -1, 0);
    QCOMPARE(guard.num_open(), std::size_t{0});
  }

  void thisProcessKeepsDescriptorsForItself() {
    const ConnectionLimits limits = ConnectionLimits::OfThisProcess();
    QVERIFY(limits.in_all > 0);
    QVERIFY(limits.of_a_key < limits.in_all && limits.silent < limits.in_all);
    const long descriptors = ::sysconf(_SC_OPEN_MAX);
    QVERIFY(static_cast<long>(limits.in_all) < descriptors);
  }
};
TESSERA_TEST(ConnectionGuardTest)
#include "connection_guard_test.moc"
