// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/end_signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <QSocketNotifier>
#include <csignal>

namespace tessera::app {
namespace {

constexpr int kEndSignals[] = {SIGTERM, SIGINT, SIGHUP};

volatile std::sig_atomic_t endPipe = -1;

extern "C" void onEndSignal(int number) {
  const auto byte = static_cast<unsigned char>(number);
  static_cast<void>(!::write(endPipe, &byte, 1));
}

}  // namespace

EndSignals::EndSignals(QObject* parent) : QObject(parent) {
  if (::pipe2(m_ends, O_CLOEXEC | O_NONBLOCK) != 0) return;  // signals then end the process at once
  endPipe = m_ends[1];
  m_notifier = new QSocketNotifier(m_ends[0], QSocketNotifier::Read, this);
  connect(m_notifier, &QSocketNotifier::activated, this, &EndSignals::read);
  for (const int number : kEndSignals) {
    struct sigaction action = {};
    action.sa_handler = onEndSignal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    ::sigaction(number, &action, nullptr);
  }
}

EndSignals::~EndSignals() {
  if (m_notifier == nullptr) return;
  for (const int number : kEndSignals) std::signal(number, SIG_DFL);
  for (const int end : m_ends) ::close(end);
}

void EndSignals::read() {
  unsigned char number = 0;
  if (::read(m_ends[0], &number, 1) == 1) emit came(number);
}

}  // namespace tessera::app
