// SPDX-License-Identifier: Apache-2.0
#include "agents/decision/registrar_watch.h"

#include <chrono>
#include <memory>
#include <utility>

namespace tessera::agents {
namespace {
constexpr std::chrono::seconds kLookPeriod{3};
}  // namespace

RegistrarWatch::RegistrarWatch(Timers& timers, EtcdPlace place, RegistrarRecord known,
                               bool is_registrar,
                               std::function<void(const RegistrarRecord& record)> moved,
                               std::function<void(const std::string& line)> print)
    : timers_(timers),
      prefix_(place.prefix),
      known_(std::move(known)),
      is_registrar_(is_registrar),
      moved_(std::move(moved)),
      print_(std::move(print)),
      client_(std::move(place), stop_.get_token()),
      worker_(timers) {
  period_ = timers_.Every(kLookPeriod, [this] { Look(); });
  Look();
}

RegistrarWatch::~RegistrarWatch() {
  timers_.Cancel(period_);
  stop_.request_stop();
}

// While etcd is out of reach, the registrar stays where it is.
void RegistrarWatch::Look() {
  if (std::exchange(is_looking_, true)) return;
  auto found = std::make_shared<Result<RegistrarRecord>>(Unavailable("not asked"));
  worker_.Run(
      [this, found] {
        if (is_registrar_ && known_.generation == 1) {
          *found = FetchRecord(client_, prefix_, known_);
          return;
        }
        const auto record = GetRecord(client_, prefix_);
        if (!record) {
          *found = record.error();
        } else {
          *found = record->value_or(known_);
        }
      },
      [this, found] {
        is_looking_ = false;
        if (!*found && !has_failed_) {
          print_("where the registrar is cannot be read: " + found->error().ToString());
        }
        has_failed_ = !found->has_value();
        if (*found && (*found)->generation > known_.generation) moved_(**found);
      });
}

}  // namespace tessera::agents
