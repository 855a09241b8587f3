// SPDX-License-Identifier: Apache-2.0
#include "ptc/schedule/steps.h"

#include <algorithm>

#include "ptc/base/check.h"

namespace tessera::ptc {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// The message of each port in each step.
class Timetable {
 public:
  Timetable(std::size_t num_ports, std::size_t num_steps)
      : num_steps_(num_steps), message_(num_ports * num_steps, kNone), free_(num_ports) {}
  std::size_t& At(std::size_t port, std::size_t step) { return message_[port * num_steps_ + step]; }
  std::size_t FirstFree(std::size_t port) {
    // The steps before the hint are taken. Swap lowers the hint if it frees one of them.
    std::size_t& hint = free_[port];
    while (At(port, hint) != kNone) ++hint;
    return hint;
  }
  void Clear(std::size_t port, std::size_t step) {
    At(port, step) = kNone;
    free_[port] = std::min(free_[port], step);
  }

 private:
  std::size_t num_steps_;
  std::vector<std::size_t> message_;
  std::vector<std::size_t> free_;
};

}  // namespace

std::vector<int> StepsOf(const std::vector<PortPair>& messages, std::size_t num_ports) {
  std::vector<std::size_t> degree(2 * num_ports);
  for (const PortPair& message : messages) {
    ++degree[message.out];
    ++degree[num_ports + message.in];
  }
  if (messages.empty()) return {};
  Timetable table(2 * num_ports, *std::max_element(degree.begin(), degree.end()));
  std::vector<int> steps(messages.size());
  for (std::size_t m = 0; m < messages.size(); ++m) {
    const std::size_t out = messages[m].out;
    const std::size_t in = num_ports + messages[m].in;
    const std::size_t step = table.FirstFree(out);
    if (const std::size_t other = table.FirstFree(in); table.At(in, step) != kNone) {
      // Swap the two steps along the path of their messages that begins at `in`. The path cannot
      // reach `out`, which has no message in `step` and is on the other side.
      std::vector<std::size_t> path;
      std::size_t port = in;
      for (std::size_t from = step, to = other; table.At(port, from) != kNone;
           std::swap(from, to)) {
        path.push_back(table.At(port, from));
        const PortPair& pair = messages[path.back()];
        port = port == pair.out ? num_ports + pair.in : pair.out;
      }
      const auto old = [&](std::size_t p) { return static_cast<std::size_t>(steps[p]); };
      for (std::size_t p : path) {
        table.Clear(messages[p].out, old(p));
        table.Clear(num_ports + messages[p].in, old(p));
      }
      for (std::size_t p : path) {
        const std::size_t swapped = old(p) == step ? other : step;
        steps[p] = static_cast<int>(swapped);
        table.At(messages[p].out, swapped) = p;
        table.At(num_ports + messages[p].in, swapped) = p;
      }
    }
    TESSERA_DCHECK(table.At(out, step) == kNone && table.At(in, step) == kNone);
    table.At(out, step) = m;
    table.At(in, step) = m;
    steps[m] = static_cast<int>(step);
  }
  return steps;
}

}  // namespace tessera::ptc
