// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/key_caster.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QFontMetrics>
#include <QKeyEvent>
#include <QKeySequence>
#include <QLineEdit>
#include <QPainter>
#include <QPlainTextEdit>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kCasterHeight = 44;
constexpr int kCasterMargin = 18;    // beside the text
constexpr int kAboveWindowEnd = 72;  // px
constexpr double kCasterFont = 20;

bool isTypedInto(const QWidget* focus) {
  return qobject_cast<const QLineEdit*>(focus) != nullptr ||
         qobject_cast<const QPlainTextEdit*>(focus) != nullptr ||
         qobject_cast<const QAbstractSpinBox*>(focus) != nullptr;
}

bool isModifier(int key) {
  return key == Qt::Key_Control || key == Qt::Key_Shift || key == Qt::Key_Alt ||
         key == Qt::Key_Meta || key == Qt::Key_AltGr || key == 0;
}

}  // namespace

KeyCaster::KeyCaster(QWidget* window) : QWidget(window) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setFocusPolicy(Qt::NoFocus);
  hide();
  m_timer.setSingleShot(true);
  connect(&m_timer, &QTimer::timeout, this, [this] { say({}); });
}

void KeyCaster::setActive(bool active) {
  if (active == m_active) return;
  m_active = active;
  if (active) {
    qApp->installEventFilter(this);
  } else {
    qApp->removeEventFilter(this);
    say({});
  }
}

// A shortcut arrives as ShortcutOverride only: it is carried out before a key press is sent.
bool KeyCaster::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && watched == QApplication::focusWidget()) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool acts = (key->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) != 0 ||
                      !isTypedInto(QApplication::focusWidget());
    if (acts && !isModifier(key->key())) {
      say(QKeySequence(key->keyCombination()).toString(QKeySequence::NativeText));
    }
  }
  return QWidget::eventFilter(watched, event);
}

void KeyCaster::say(const QString& text) {
  m_text = text;
  setVisible(!text.isEmpty());
  if (text.isEmpty()) return;
  place();
  raise();
  update();
  m_timer.start(kShowMs);
}

void KeyCaster::place() {
  const int width = QFontMetrics(uiFont(kCasterFont, QFont::DemiBold)).horizontalAdvance(m_text) +
                    2 * kCasterMargin;
  const QWidget* window = parentWidget();
  setGeometry((window->width() - width) / 2, window->height() - kAboveWindowEnd - kCasterHeight,
              width, kCasterHeight);
}

void KeyCaster::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.text);
  painter.drawRoundedRect(rect(), 10, 10);
  painter.setPen(theme.cell);
  painter.setFont(uiFont(kCasterFont, QFont::DemiBold));
  painter.drawText(rect(), Qt::AlignCenter, m_text);
}

}  // namespace tessera::ui
