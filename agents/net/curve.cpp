// SPDX-License-Identifier: Apache-2.0
// Key pairs and their files; the context with its ZAP handler (rfc.zeromq.org/spec/27).
#include <malloc.h>
#include <sys/stat.h>
#include <zmq.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <sstream>
#include <thread>

#include "agents/net/socket.h"
#include "engine/files/whole_file.h"
#include "ptc/base/check.h"

namespace tessera::agents {

CurveKeys NewCurveKeys() {
  char public_key[41] = {};
  char secret_key[41] = {};
  // Fails only if libzmq was built without CURVE, and then nothing here can work.
  TESSERA_CHECK(zmq_curve_keypair(public_key, secret_key) == 0);
  return {public_key, secret_key};
}

namespace {

/// The lines of a key file.
struct KeyLines {
  CurveKeys keys;
  std::optional<KeyOwner> role;
};
Result<KeyLines> ReadKeyLines(const std::string& path) {
  KeyLines out;
  const auto text = engine::ReadWholeFile(path);
  if (!text && text.error().code == ErrorCode::kNotFound) return NotFound("no key file " + path);
  if (!text) return text.error();
  std::istringstream lines(*text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    const auto wrong = [&](const std::string& why) {
      return InvalidArgument(path + ":" + std::to_string(number) + ": " + why);
    };
    const std::size_t space = line.find(' ');
    const std::string name = line.substr(0, space);
    const std::string value = space == std::string::npos ? "" : line.substr(space + 1);
    if (name == "role") {
      if (out.role) return wrong("second role");
      auto role = ParseRole(value);
      if (!role) return wrong(role.error().message);
      out.role = std::move(*role);
      continue;
    }
    std::string* key = name == "public"   ? &out.keys.public_key
                       : name == "secret" ? &out.keys.secret_key
                                          : nullptr;
    if (key == nullptr) return wrong("line is none of 'public KEY', 'secret KEY' and 'role ROLE'");
    if (!key->empty()) return wrong("second " + name + " key");
    *key = value;
    if (!IsPublicKey(*key)) {
      return wrong(name + " key of " + std::to_string(key->size()) +
                   " characters is not 40 characters of Z85");
    }
  }
  if (out.keys.public_key.empty()) return InvalidArgument(path + ": no public key");
  return out;
}

}  // namespace

bool IsPublicKey(std::string_view text) {
  std::uint8_t raw[32];
  return text.size() == 40 && zmq_z85_decode(raw, std::string(text).c_str()) != nullptr;
}

bool CanOthersRead(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0;
}

Status SaveKeys(const CurveKeys& keys, const std::string& path) {
  return engine::WriteWholeFile(
      path, "public " + keys.public_key + "\nsecret " + keys.secret_key + "\n", 0600);
}

Status SavePublicKey(const std::string& public_key, const std::string& path,
                     const std::string& role) {
  const std::string line = role.empty() ? "" : "role " + role + "\n";
  return engine::WriteWholeFile(path, "public " + public_key + "\n" + line, 0644);
}

Result<std::string> LoadPublicKey(const std::string& path) {
  TESSERA_TRY(KeyLines lines, ReadKeyLines(path));
  return std::move(lines.keys.public_key);
}

Result<OwnedKey> LoadOwnedKey(const std::string& path) {
  TESSERA_TRY(KeyLines lines, ReadKeyLines(path));
  OwnedKey key{std::move(lines.keys.public_key), lines.role.value_or(KeyOwner{}),
               lines.role.has_value()};
  key.owner.name = std::filesystem::path(path).stem().string();
  return key;
}

Result<CurveKeys> LoadKeys(const std::string& path) {
  TESSERA_TRY(KeyLines lines, ReadKeyLines(path));
  CurveKeys& keys = lines.keys;
  if (keys.secret_key.empty()) return InvalidArgument(path + ": no secret key");
  char derived[41] = {};
  if (zmq_curve_public(derived, keys.secret_key.c_str()) != 0 || keys.public_key != derived) {
    return InvalidArgument(path + ": public key does not belong to the secret key");
  }
  if (CanOthersRead(path)) {
    return PermissionDenied(path + ": others than its owner can read this secret key; `chmod 600 " +
                            path + "` ends that, and a new key is safer");
  }
  return std::move(keys);
}

namespace {
constexpr const char* kZapEndpoint = "inproc://zeromq.zap.01";
constexpr const char* kZapControl = "inproc://tessera.zap.control";
}  // namespace

struct NetContext::Impl {
  void* context = nullptr;
  void* zap = nullptr;             // REP, made here, then the thread's
  void* control_inside = nullptr;  // PAIR, the thread's
  void* control = nullptr;         // PAIR, the owner's: any message ends the thread
  std::atomic<std::int64_t> num_refused{0};
  std::mutex mutex;
  KeyOwners allowed;  // under `mutex`
  std::thread thread;

  std::optional<KeyOwner> OwnerOf(const std::string& key) {
    const std::lock_guard lock(mutex);
    const auto found = allowed.find(key);
    return found == allowed.end() ? std::nullopt : std::optional(found->second);
  }

  static std::vector<std::string> ReceiveAll(void* socket) {
    std::vector<std::string> frames;
    for (;;) {
      zmq_msg_t part;
      zmq_msg_init(&part);
      if (zmq_msg_recv(&part, socket, 0) < 0) {
        zmq_msg_close(&part);
        return {};
      }
      frames.emplace_back(static_cast<const char*>(zmq_msg_data(&part)), zmq_msg_size(&part));
      const bool more = zmq_msg_more(&part) != 0;
      zmq_msg_close(&part);
      if (!more) return frames;
    }
  }

  // Request: version, id, domain, address, identity, mechanism, credentials.
  void Answer() {
    const std::vector<std::string> request = ReceiveAll(zap);
    std::string key;
    if (request.size() == 7 && request[0] == "1.0" && request[5] == "CURVE" &&
        request[6].size() == 32) {
      char text[41] = {};
      zmq_z85_encode(text, reinterpret_cast<const std::uint8_t*>(request[6].data()), 32);
      key = text;
    }
    const bool good = !key.empty() && OwnerOf(key).has_value();
    if (!good) ++num_refused;
    const std::string id = request.size() > 1 ? request[1] : "";
    const std::string reply[] = {
        "1.0",           id, good ? "200" : "400", good ? "OK" : "key is not in the allow-list",
        good ? key : "", ""};
    constexpr std::size_t kFrames = std::size(reply);
    for (std::size_t i = 0; i < kFrames; ++i) {
      zmq_send(zap, reply[i].data(), reply[i].size(), i + 1 < kFrames ? ZMQ_SNDMORE : 0);
    }
  }

  void RunZap() {
    for (;;) {
      zmq_pollitem_t items[] = {{zap, 0, ZMQ_POLLIN, 0}, {control_inside, 0, ZMQ_POLLIN, 0}};
      if (zmq_poll(items, 2, -1) < 0) {
        if (zmq_errno() == EINTR) continue;
        break;
      }
      if (items[1].revents != 0) break;
      if (items[0].revents != 0) Answer();
    }
    zmq_close(zap);
    zmq_close(control_inside);
  }
};

namespace {

/// Lets malloc reuse the memory of received frames. By default it returns blocks of this size to
/// the kernel, and the page faults of the next frame cost more than its copy.
void KeepMemoryOfFrames() {
#ifdef __GLIBC__
  constexpr int kLargestKept = 8 << 20;  // more than the largest frame
  constexpr int kMostKept = 64 << 20;
  [[maybe_unused]] static const bool is_set =
      mallopt(M_MMAP_THRESHOLD, kLargestKept) == 1 && mallopt(M_TRIM_THRESHOLD, kMostKept) == 1;
#endif
}

}  // namespace

NetContext::NetContext(int io_threads) : impl_(std::make_unique<Impl>()) {
  KeepMemoryOfFrames();
  Impl& impl = *impl_;
  impl.context = zmq_ctx_new();
  TESSERA_CHECK(impl.context != nullptr);
  zmq_ctx_set(impl.context, ZMQ_IO_THREADS, io_threads);
  const auto make = [&](int type) {
    void* socket = zmq_socket(impl.context, type);
    TESSERA_CHECK(socket != nullptr);
    const int none = 0;
    zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none);
    return socket;
  };
  impl.zap = make(ZMQ_REP);
  impl.control = make(ZMQ_PAIR);
  impl.control_inside = make(ZMQ_PAIR);
  TESSERA_CHECK(zmq_bind(impl.zap, kZapEndpoint) == 0);
  TESSERA_CHECK(zmq_bind(impl.control, kZapControl) == 0);
  TESSERA_CHECK(zmq_connect(impl.control_inside, kZapControl) == 0);
  impl.thread = std::thread([&impl] { impl.RunZap(); });
}

NetContext::~NetContext() {
  zmq_send(impl_->control, "", 0, 0);
  impl_->thread.join();
  zmq_close(impl_->control);
  zmq_ctx_term(impl_->context);
}

void NetContext::SetOwners(KeyOwners keys) {
  const std::lock_guard lock(impl_->mutex);
  impl_->allowed.swap(keys);
}

void NetContext::SetAllowed(const std::vector<std::string>& public_keys) {
  KeyOwners owners;
  for (const std::string& key : public_keys) owners.emplace(key, KeyOwner{});
  SetOwners(std::move(owners));
}

std::optional<KeyOwner> NetContext::OwnerOf(std::string_view public_key) const {
  return impl_->OwnerOf(std::string(public_key));
}

std::int64_t NetContext::num_refused() const { return impl_->num_refused; }

void* NetContext::handle() const { return impl_->context; }

}  // namespace tessera::agents
