// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A dialog that asks the cluster something and shows the answer: a sentence and a table. While it
/// waits it says so; if there is no answer it says why.

#include <functional>

#include "ptc/base/result.h"
#include "ui/dialogs/dialog.h"
#include "ui/models/text_table_model.h"

class QBoxLayout;
class QLabel;
class QPushButton;
class QTableView;

namespace tessera::ui {

class CopyLine;
class Spinner;

class AnswerDialog : public Dialog {
  Q_OBJECT

 public:
  struct Texts {
    QString title;    // "Digest of gpt-mini"
    QString waiting;  // "Waiting for the end of the step…"
    QString failed;   // "The digest could not be computed: %1."
    QString again;    // of the button: "Compute again"
    QString command;  // the same as a command line
  };
  struct Shown {
    QString words;  // the answer in one or two sentences
    QString role;   // of the words: "", "ok", "warn", "bad"
    TextTable table = {};
    QString copied = {};     // what Copy copies; empty: the table
    bool isPartial = false;  // more follows
  };
  using Done = std::function<void(Result<Shown>)>;
  /// Sends the question. `Done` may run several times if the earlier answers are partial, and
  /// after the dialog is gone.
  using Ask = std::function<void(Done)>;

  /// Asks at once.
  AnswerDialog(const Texts& texts, Ask ask, QWidget* parent = nullptr);
  /// The same without a question: the button `texts.again` asks. Shows `words` until then.
  static AnswerDialog* idle(const Texts& texts, const QString& words, Ask ask, QWidget* parent);

  /// Asks again. An earlier answer stays visible, dimmed.
  void ask();
  bool isAsking() const { return m_asking; }
  /// Replaces the question and the command, for the next ask().
  void setQuestion(Ask ask, const QString& command);
  /// Adds a button for the chosen row, enabled while one is chosen. `act` receives its number.
  QPushButton* addRowButton(const QString& text, std::function<void(int row)> act);
  /// Adds a button that is enabled while the dialog waits for an answer.
  QPushButton* addStopButton(const QString& text, std::function<void()> act);
  /// Adds a widget above the table.
  void addControl(QWidget* widget);

  QString words() const;
  QString command() const;
  const TextTableModel& model() const { return m_model; }
  QTableView* table() const { return m_table; }
  QPushButton* againButton() const { return m_again; }
  QPushButton* copyButton() const { return m_copy; }

 private:
  struct Idle {};
  AnswerDialog(const Texts& texts, Ask ask, QWidget* parent, Idle);
  void take(Result<Shown> answer);
  void refresh();
  void fitColumns();
  int chosen() const;

  Texts m_texts;
  Ask m_ask;
  int m_question = 0;  // number of the newest; answers to others are dropped
  bool m_asking = false;
  Shown m_shown;
  QString m_problem;
  TextTableModel m_model;
  QLabel* m_words;
  Spinner* m_spinner;
  QBoxLayout* m_controls;
  QTableView* m_table;
  QWidget* m_filler;
  CopyLine* m_command;
  QPushButton *m_copy, *m_again;
  QBoxLayout* m_buttons;
  std::vector<QPushButton*> m_rowButtons, m_stopButtons;
};

}  // namespace tessera::ui
