// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The dialog of known clusters: test, connect, forget, add.

#include <QElapsedTimer>

#include "ui/connections.h"
#include "ui/dialogs/dialog.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QListWidget;
class QPushButton;
class QStackedWidget;

namespace tessera::ui {

class AgentTests;
class KeyValues;
class NoticeBar;
class ProfileForm;
class Settings;
class Spinner;

class ConnectDialog : public Dialog {
  Q_OBJECT

 public:
  /// The size of the local cluster that the button starts.
  static constexpr int kLocalNodes = 2;
  static constexpr int kLocalGpus = 4;

  /// Both outlive the dialog.
  ConnectDialog(Connections& connections, Settings& settings, QWidget* parent = nullptr);
  ~ConnectDialog() override;

  QListWidget* list() const { return m_list; }
  AgentTests* tests() const { return m_tests; }
  ProfileForm* form() const { return m_form; }
  QPushButton* testButton() const { return m_test; }
  QPushButton* connectButton() const { return m_connect; }
  QPushButton* forgetButton() const { return m_forget; }
  QPushButton* addButton() const { return m_add; }
  QPushButton* startButton() const { return m_start; }
  NoticeBar* toast() const { return m_toast; }
  bool isTesting() const { return m_testing; }
  bool isEmpty() const;
  /// Returns the name of the selected profile, or an empty text.
  QString chosen() const;

 signals:
  void connectRequested(const QString& profile);
  void startLocalRequested();

 private:
  QWidget* makeDetails();
  QWidget* makeEmpty();
  void reload(const QString& select);
  void showChosen();
  void storeTag();
  void startTest();
  void endTest(const QString& note);
  void forget();
  void showForm();

  Connections& m_connections;
  Settings& m_settings;
  QList<ProfileInfo> m_profiles;
  bool m_testing = false;
  bool m_filling = false;
  int m_testNumber = 0;
  QElapsedTimer m_testTime;

  QListWidget* m_list;
  QPushButton* m_add;
  QStackedWidget* m_pages;
  QWidget *m_details = nullptr, *m_empty = nullptr;
  ProfileForm* m_form;
  QLabel *m_title = nullptr, *m_problem = nullptr, *m_testNote = nullptr;
  KeyValues* m_facts = nullptr;
  QComboBox* m_tag = nullptr;
  QCheckBox* m_readOnly = nullptr;
  Spinner* m_spinner = nullptr;
  AgentTests* m_tests = nullptr;
  QPushButton *m_test = nullptr, *m_forget = nullptr, *m_connect = nullptr, *m_start = nullptr;
  NoticeBar* m_toast;
};

}  // namespace tessera::ui
