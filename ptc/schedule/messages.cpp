// SPDX-License-Identifier: Apache-2.0
#include "ptc/schedule/messages.h"

#include <algorithm>
#include <tuple>

#include "ptc/schedule/split_box.h"
#include "ptc/schedule/steps.h"

namespace tessera::ptc {

std::vector<Message> MakeMessages(const std::vector<Hop>& hops,
                                  const std::vector<std::size_t>& of_round, const Sites& sites,
                                  std::int64_t message_bytes) {
  std::vector<std::size_t> order = of_round;
  const auto key = [&](std::size_t h) {
    const Hop& hop = hops[h];
    return std::tie(hop.source, hop.device, hop.tensor, hop.cell);
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<Message> messages;
  for (std::size_t h : order) {
    const Hop& hop = hops[h];
    const DeviceId source = sites.Device(hop.source);
    const DeviceId destination = sites.Device(hop.device);
    const std::int64_t most = std::max(std::int64_t{1}, message_bytes / hop.element_bytes);
    for (const Box& part : SplitInOrder(hop.cell, most)) {
      const std::int64_t bytes = part.num_elements() * hop.element_bytes;
      const bool fits = !messages.empty() && messages.back().source == source &&
                        messages.back().destination == destination &&
                        messages.back().bytes + bytes <= message_bytes;
      if (!fits) messages.push_back({source, destination, 0, 0});
      messages.back().bytes += bytes;
      messages.back().transfers.push_back(
          {hop.tensor, part, hop.from, hop.piece, hop.after.has_value()});
    }
  }
  // Sort by size, so that messages of equal size share steps.
  std::stable_sort(messages.begin(), messages.end(),
                   [](const Message& a, const Message& b) { return a.bytes > b.bytes; });
  std::vector<PortPair> pairs;
  for (const Message& message : messages) {
    const std::size_t source = sites.Position(message.source);
    const std::size_t destination = sites.Position(message.destination);
    pairs.push_back(
        {sites.PortTowards(source, destination), sites.PortTowards(destination, source)});
  }
  const std::vector<int> steps = StepsOf(pairs, sites.num_ports());
  for (std::size_t m = 0; m < messages.size(); ++m) messages[m].step = steps[m];
  std::stable_sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
    return std::tie(a.step, a.source, a.destination) < std::tie(b.step, b.source, b.destination);
  });
  return messages;
}

}  // namespace tessera::ptc
