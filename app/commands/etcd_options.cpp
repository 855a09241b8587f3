// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/etcd_options.h"

#include <fmt/format.h>

#include <filesystem>

#include "engine/files/absolute_path.h"

namespace tessera::app {

std::vector<OptionSpec> etcdOptions() {
  return {
      {.name = "etcd",
       .value = "URL",
       .help = "decide transactions in this etcd cluster instead of in the registrar's journal; "
               "one for each member",
       .repeats = true},
      {.name = "etcd-ca",
       .value = "FILE",
       .help = "authorities of etcd's certificates, PEM",
       .fallback = "those of the machine"},
      {.name = "etcd-cert",
       .value = "FILE",
       .help = "certificate with which agents connect to etcd, PEM"},
      {.name = "etcd-key", .value = "FILE", .help = "key of that certificate, PEM"},
      {.name = "etcd-prefix",
       .value = "KEY",
       .help = "where the keys of this cluster begin; the same on all its nodes",
       .fallback = "/tessera/ and the cluster's name; `up` adds a random number"}};
}

Result<agents::EtcdPlace> readEtcd(const Arguments& arguments, const std::string& prefix) {
  agents::EtcdPlace place;
  place.endpoints = arguments.values("etcd");
  for (std::string& url : place.endpoints)
    while (url.ends_with('/')) url.pop_back();
  const auto file = [&](const char* option, std::string& into) -> Status {
    const auto given = arguments.value(option);
    if (!given) return OkStatus();
    if (place.endpoints.empty())
      return InvalidArgument(fmt::format("--{} is of use only with --etcd", option));
    into = engine::AbsolutePath(*given);
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(into, ignored))
      return NotFound(fmt::format("--{}: file '{}' does not exist", option, into));
    return OkStatus();
  };
  TESSERA_RETURN_IF_ERROR(file("etcd-ca", place.authorities));
  TESSERA_RETURN_IF_ERROR(file("etcd-cert", place.certificate));
  TESSERA_RETURN_IF_ERROR(file("etcd-key", place.key));
  place.prefix = arguments.valueOr("etcd-prefix", prefix);
  if (!place.endpoints.empty()) {
    agents::EtcdPlace checked = place;
    if (checked.prefix.empty()) checked.prefix = "/chosen-later";
    TESSERA_RETURN_IF_ERROR(agents::CheckEtcdPlace(checked));
  }
  if (place.endpoints.empty() && arguments.has("etcd-prefix"))
    return InvalidArgument("--etcd-prefix is of use only with --etcd");
  return place;
}

}  // namespace tessera::app
