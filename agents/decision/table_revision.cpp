// SPDX-License-Identifier: Apache-2.0
#include "agents/decision/table_revision.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <utility>

namespace tessera::agents {
namespace {

std::string TableKey(const std::string& prefix) { return prefix + "/registrar-table"; }

Result<std::int64_t> ParseRevision(const std::string& key, const std::string& text) {
  std::int64_t revision = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, revision);
  if (error != std::errc() || stop != end || revision < 0) {
    return DataLoss(fmt::format("key '{}' of etcd is no revision of a job table", key));
  }
  return revision;
}

}  // namespace

Result<std::int64_t> GetTableRevision(EtcdClient& client, const std::string& prefix) {
  const std::string key = TableKey(prefix);
  TESSERA_TRY(const auto text, client.Get(key));
  if (!text) return std::int64_t{0};
  return ParseRevision(key, *text);
}

// Only a writer that raises it as well may come between.
Result<std::int64_t> RaiseTableRevision(EtcdClient& client, const std::string& prefix,
                                        std::int64_t revision) {
  const std::string key = TableKey(prefix), next = std::to_string(revision);
  TESSERA_TRY(std::string held, client.PutIfAbsent(key, next));
  for (;;) {
    TESSERA_TRY(const std::int64_t noted, ParseRevision(key, held));
    if (noted >= revision) return noted;
    TESSERA_TRY(held, client.Replace(key, held, next));
  }
}

Status ForgetTableRevision(EtcdClient& client, const std::string& prefix) {
  const std::string key = TableKey(prefix);
  TESSERA_TRY(const auto before, client.Get(key));
  if (!before) return OkStatus();
  TESSERA_TRY(const std::string held, client.Replace(key, *before, "0"));
  if (held != "0") return Unavailable("a registrar changes the job table at the same time");
  return OkStatus();
}

TableRevision::TableRevision(Timers& timers, EtcdPlace place,
                             std::function<void(const std::string& line)> print)
    : timers_(timers),
      prefix_(place.prefix),
      print_(std::move(print)),
      client_(std::move(place), stop_.get_token()),
      worker_(timers) {}

TableRevision::~TableRevision() {
  if (soon_) timers_.Cancel(*soon_);
  stop_.request_stop();
}

void TableRevision::Note(std::int64_t revision) {
  wanted_ = std::max(wanted_, revision);
  NoteSoon();
}

void TableRevision::NoteSoon() {
  if (soon_ || is_noting_ || wanted_ <= noted_) return;
  soon_ = timers_.After(kDelay, [this] {
    soon_.reset();
    is_noting_ = true;
    Run([prefix = prefix_, revision = wanted_](
            EtcdClient& client) { return RaiseTableRevision(client, prefix, revision); },
        [this](const Result<std::int64_t>& noted) {
          is_noting_ = false;
          if (noted) noted_ = *noted;
          NoteSoon();
        });
  });
}

std::optional<std::int64_t> TableRevision::Latest() {
  if (!std::exchange(is_asking_, true)) {
    Run([prefix = prefix_](EtcdClient& client) { return GetTableRevision(client, prefix); },
        [this](const Result<std::int64_t>& noted) {
          is_asking_ = false;
          if (noted) latest_ = *noted;
        });
  }
  return latest_;
}

void TableRevision::Run(Work work, std::function<void(const Result<std::int64_t>& noted)> then) {
  auto answer = std::make_shared<Result<std::int64_t>>(Unavailable("not asked"));
  worker_.Run([this, work = std::move(work), answer] { *answer = work(client_); },
              [this, then = std::move(then), answer] {
                if (!*answer && !has_failed_) {
                  print_("the revision of the job table in etcd: " + answer->error().ToString());
                }
                has_failed_ = !answer->has_value();
                then(*answer);
              });
}

}  // namespace tessera::agents
