<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>ClusterTest</name>
    <message>
        <source>registrar</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ask the operator to allow your public key, or choose another key file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Install the same version of Tessera on this machine and on the cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The server key of this profile does not match the cluster. Add its profile again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start it: tesseractl up --cluster %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check that the registrar is running, that %1 is the right address, and that no firewall blocks it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>last seen %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look at its log: tesseractl logs %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>version %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, this panel has %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Install the same version of Tessera on %1 and here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its clock is %1 ahead</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its clock is %1 behind</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Synchronise the clocks: systemctl enable --now systemd-timesyncd</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>clock within %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::app::AppConnections</name>
    <message>
        <source>%1 of %2 agents started</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writing the agents&apos; configuration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Creating its keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 nodes of %2 GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Others can read the secret: chmod 600</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::app::ClusterTest</name>
    <message>
        <source>registrar</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no answer within %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check that %1 is the right address and that no firewall blocks it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose the key file that was created for this cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 in %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::AboutDialog</name>
    <message>
        <source>About Tessera</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tessera</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Moves the state of a running deep-learning job to another mesh of GPUs. Based on the idea of Tenplex (SOSP 2024).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>version</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Qt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>display</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>system</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>panel and command line (ui, app)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPL-3.0-or-later</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>planner, engine, agents</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Apache-2.0</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>LGPL-3.0-only</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>QCustomPlot</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ZeroMQ</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>LGPL-3.0 with static linking exception</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Protocol Buffers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>BSD-3-Clause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SQLite</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>public domain</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>libtorch (trainer only)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Licences</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy versions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the versions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::AgentTests</name>
    <message>
        <source>reached</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>version mismatch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>key refused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>clock skew</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not reached</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reached, with warnings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2, %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2, %3. %4</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::AnswerDialog</name>
    <message>
        <source>command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy as command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ApplySheet</name>
    <message>
        <source>Apply even though the change cannot be recorded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Apply to %1 · %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reconfigure %1: %2 → %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 → %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bytes to move</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pause (estimate)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>peak memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 on %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>can be rolled back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>yes, until the commit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move %1, pause ≈ %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel. Nothing moves</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::BatchStrip</name>
    <message>
        <source>dp %1: positions %2 to %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Batches and their ranks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>dp %1 · %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::CandidateDelegate</name>
    <message>
        <source>now</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::CandidateTableModel</name>
    <message>
        <source>fits</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fits, but leaves less than 10 %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ZeRO</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>mb %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seconds per step, estimated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens per second, estimated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>moves</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nothing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bytes that the change would move</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause of the job, estimated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>peak memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory of the fullest GPU during the change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>current</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>recommended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step ≈ %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ %1 tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>moves %1, pause ≈ %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>peak %1, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 unused</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ChangeDetails</name>
    <message>
        <source>when</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>requested by</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>options</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>after step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>digests</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>equal, %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>digests of the whole state before and after</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>moved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>planned %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>planned to move</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>least possible</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pause (estimate)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Phases</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Planned and actual</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Flows, largest first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft an undo…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show this moment</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save report…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save a report of this change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save this change as a page with pictures, a table or JSON</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft an undo of this change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft the layout from before this change. Nothing moves until you apply it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close the details</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Return to the selection in the mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the GPUs and the job as they were when this change began</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Details of the change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only a committed change can be undone.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Phases: not recorded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Phases: %1 in all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>network</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ChangeDiff</name>
    <message>
        <source>change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>day</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>when</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>result</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>options</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>moved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>least possible</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loss before</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loss after</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens/s before</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens/s after</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>+%1: %2</source>
        <comment>devices that joined</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>−%1: %2</source>
        <comment>devices that left</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>another shard on %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same GPUs, at the same places in pp, ep and tp.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ChangeView</name>
    <message>
        <source>running</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>committed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rolled back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ZeRO on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ZeRO off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>micro-batch %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>equal</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>different</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::CheckTableModel</name>
    <message>
        <source>ok</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>warning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>skipped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Severity</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Finding</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Value</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remedy</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ClusterMenu</name>
    <message>
        <source>The cluster has saved no checkpoint. Cluster ▸ Save a Checkpoint saves one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Digest</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Path</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 checkpoint, %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 checkpoints, %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no job to load it into.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Load a checkpoint into %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The parameters and the optimizer state of %1 are replaced by those of step %2. What the job has done since is lost.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Load step %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep the state</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The checkpoint was not loaded: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete a checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Deleting this checkpoint frees %1. It cannot be restored.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The checkpoint was not deleted: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>C&amp;heckpoints…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>List the checkpoints of the cluster, load or delete one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Comparing their files…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The checkpoints could not be listed: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Read again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Load…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Node:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing was done: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 at step %2, epoch %3, timeline %4. Every mesh has this digest for the same state.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tensor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Di&amp;gest Now…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compute the digest of the state. A running job pauses for it after its current step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Digest of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for the end of the step…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The digest could not be computed: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compute again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Doctor…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the problems that the nodes found, with remedies</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is a history file, not a live cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no connection to the cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There are no keys in %1. Make a pair here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keys in %1. A secret key stays on this machine; the .pub file goes into the folder of accepted keys of every node.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>File</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kind</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Role</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Public key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Note</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pair</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>public</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder of accepted keys of a node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Revoke key %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node refuses %1 within 2 s, also on connections that are open. Repeat this on every node, or copy the folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Revoke %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Removed %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The key was not revoked: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the key files…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The keys could not be listed: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>name, such as lecture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name of the new key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Role of the new key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>viewer: sees</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>operator: acts, and reads the state of jobs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Made %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No key was made: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Revoke…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Keys…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>List this user&apos;s keys by role, make a pair, revoke one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This panel has no profiles.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plans assume %1 inside a host and %2 between hosts: %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No link of this cluster was measured yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measured at %1 in %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Link</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Median</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Slowest</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fastest</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lanes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>memory of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Probe Lin&amp;ks…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the bandwidths of the links, and measure them again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Links of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measuring takes up to 10 s per host. Jobs continue…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The links could not be measured: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measure</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lo&amp;gs…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the log of a node&apos;s agent, or what a rank of the job has printed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let a GPU fail</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the GPU holds is lost. GPU:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has failed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Give Up a Node…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Say that a silent node is lost, so that its jobs can go on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give up a node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What %1 holds counts as lost. Its jobs continue from replicas or a snapshot, or wait. Do this only if you know that the node is gone.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is given up.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Kill a Node…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kill a node of an emulated cluster with everything on it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kill a node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All processes of %1 end, and the state on it is lost.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is killed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Start a Node…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a killed node of an emulated cluster again, with empty GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is back, its GPUs are empty.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Nodes and GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let a GPU &amp;Fail…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let a GPU of an emulated cluster fail, to see what happens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Ask</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ask, and continue after a countdown if no step is lost by that</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Continue with What Is Left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue at once with the GPUs that are left, spare ones first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Wait for the GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Wait until the lost GPUs are back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>If GPUs Are &amp;Lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Operate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Allow this panel to change the cluster until it locks again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Live Moves</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A drop starts a change after a countdown. Esc stops it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Pause the Job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause the job after its current step. Its state stays in memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The job is not running.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Resume the Job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume the paused or suspended job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The job is neither paused nor suspended.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measured at %1 on %2, %3 cores. Estimates of step and pause times use these.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Small messages</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 MiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all-reduce inside a host, 2 ranks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all-reduce inside a host, 4 ranks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all-reduce between hosts, 2 ranks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all-reduce between hosts, 4 ranks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>gather between hosts, 4 ranks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>message between stages, inside a host</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>message between stages, between hosts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>matrix products of one core</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 GFLOP/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measure S&amp;peed…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show how fast the cluster computes and communicates, and measure it again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measuring uses all cores of every node for some seconds. Running jobs become slower…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no measurement: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Re&amp;connect Now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try to connect again immediately</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No cluster is selected.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The panel is already connected.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 coordinates the cluster, at %2. Changes are decided in %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>etcd</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a file of this node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The registrar has moved %1 times.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing can be decided now: %1. Changes wait; nothing is lost.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Register</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Version</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answered in</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>leads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Re&amp;gistrar…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show where the cluster is coordinated and changes are decided</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Registrar of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asking the registrar…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The registrar did not answer: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ask again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A folder that all hosts see under this path. The checkpoint takes %1 there, and as much host memory while it is written.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No checkpoint was saved: &apos;%1&apos; is not an absolute path.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sa&amp;ve a Checkpoint…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the state in a folder that all hosts see, while the job trains</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no job.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A checkpoint is being saved.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This cluster is not simulated.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Si&amp;mulation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Stop the Time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed: %1 ×</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No simulated time passes until you choose a speed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let %1 simulated seconds pass in a second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The simulated time stands still.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 simulated seconds pass in a second.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make a &amp;GPU Slow…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let a GPU compute three times as long</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make a GPU slow</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It computes three times as long. GPU:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 computes three times as long.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make a GPU &amp;Fast Again…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let a slow GPU compute as its hardware does</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make a GPU fast again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 computes as its hardware does.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make a &amp;Port Slow…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give the network port of a node a tenth of its speed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make a port slow</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The port of %1 has a tenth of its speed. Plans do not know that.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make a Port Fast A&amp;gain…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give the network port of a node the speed of its hardware</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make a port fast again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The port of %1 is as fast as its hardware.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Cut a Node Off…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let nothing reach the agent of a node for 20 s. Its ranks train on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cut a node off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is cut off for 20 s.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Restart an Agent…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kill the agent of a node. Its keeper starts the next one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restart an agent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The agent of %1 restarts. Its ranks train on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Add a Node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let a node join the simulated cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A node joins the cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Snapshots of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A number of steps, or a time such as 30s, 5m or 1h. Each takes %1 of host memory, and the next one as much again while it is taken.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Set the interval</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The interval was not set: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the state into the memory of two hosts while the job trains. It takes twice the state, and as much again while the next copy is made</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>N&amp;o Snapshots</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Snapshot Every 1&amp;0 Steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Snapshot Every &amp;100 Steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Snapshot Every &amp;Minute</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Snapshot Every 10 M&amp;inutes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take no further copies, and free the newest one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>S&amp;napshots</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Snapshot Every…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a &amp;Job…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a model, its data and its GPUs, and start it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No checkpoint of this job was saved: all %1 steps are lost.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its newest checkpoint, of step %1, stays: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopping %1 frees %2 on %3. Its state in memory is lost, snapshots too.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>To keep the state, pause the job or save a checkpoint.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep running</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Stop the Job…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the job and free its state, after confirmation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The job has ended.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing was stopped: another job than %1 is shown now.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop cluster %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All processes of %1 end. It runs no job.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All processes of %1 end, and with them %2. Their state, %3, is lost.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>History, logs and checkpoints stay on the disk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the Local Cl&amp;uster…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End all processes of a cluster that was started on this machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was not started on this machine.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopping %1…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is down.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was not stopped: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measured</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Error</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped. %1 runs %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 runs %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>configurations: </source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Number of configurations to try</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>steps each: </source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps to run each; the first 2 do not count</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tune %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Planning the configurations…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The job was not tuned: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Each configuration is an ordinary change: training continues and no step is lost. At the end the job keeps the fastest one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop and go back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Tune the Job…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run the configurations with the best estimates and keep the fastest</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ClusterTreeModel</name>
    <message>
        <source>failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>joins</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>leaves</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sending</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>joining</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>idle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>+%1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 idle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ColourBar</name>
    <message>
        <source>colour by</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Meaning of the colours</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Meaning of the colours in all views</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::CommandContext</name>
    <message>
        <source>This is a history file, not a live cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no connection to the cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no job.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::CommandPalette</name>
    <message>
        <source>action</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>event</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go to</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An action, a GPU, a node, a job, a change, an event</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Results</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No results.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only GPUs: g 5 · nodes: n 1 · jobs: j · changes: h · events: e · actions: a</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ComparePage</name>
    <message>
        <source>Save…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Two changes beside each other</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the comparison</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the comparison as CSV or JSON</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close the comparison</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Return to the selection in the mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change %1 against change %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CSV tables (*.csv);;JSON (*.json)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ConnectDialog</name>
    <message>
        <source>connected</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>read-only</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a cluster…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Connect</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Known clusters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CLUSTERS</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Colour tag</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Read-only: this panel cannot change the cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Read-only</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>colour tag</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Agents</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Test</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Test every agent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Results of the test</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forget</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forget this cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close without connecting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No cluster yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a cluster by the address of its registrar, for example tcp://10.0.0.5:40001, or start a local cluster with emulated GPUs. The button runs this command:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Command that starts a local cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start local cluster (%1 nodes × %2 GPUs)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a local cluster of %1 nodes with %2 GPUs each</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 at %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, read-only</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, connected</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>registrar</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>events</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>server key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>your key file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>location</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on other machines</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on this machine, running</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on this machine, stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>blue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>green</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>amber</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>red</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>grey</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Connect again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cluster runs on this machine. Stop it first: tesseractl down --cluster %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove the profile. The cluster and your key file are kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>testing…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel the test</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tested in %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is forgotten.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ConsistencyLesson</name>
    <message>
        <source>Back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save picture…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>samples trained on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>training loss (nats per token, smoothed)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lesson: keeping the position in the data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text of the lesson</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The runs use a temporary cluster on this machine. The cluster that you are connected to is not touched.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training loss of the three runs over the samples trained on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Progress of the runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trains the job three times on this machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>STEP %1 OF %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose an answer first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer the question first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopping the cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The runs failed: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>run %1, in %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>starting a cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2: %3, step %4 of %5</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, ≈ %1 left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No curves: the runs failed. Run them again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The curves appear here after you answer in step 3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The curves appear with the first training steps.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The curves appear in the next step.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing has run yet. Press Run. It takes some minutes on all cores of this machine.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>change of GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, held out %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loss at the end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There are no results before the three runs have finished.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>saved as %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The picture was not saved: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save picture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pictures (*.png);;Vector pictures (*.svg)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not distinguishable from the right job&apos;s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ± %2 below the right job&apos;s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ± %2 above the right job&apos;s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Position lost: %1 samples were read twice, %2 never. At the end its loss on the samples read after the change is %3; on the samples never read it is %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU batch kept: a step used %1 samples, then %2, at the same learning rate. At the end its loss on the samples read after the change is %3; on text that no run trained on it is %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>never reconfigured</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>right</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>position lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU batch kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One job, moved three times</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Two mistakes that are easy to make</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What do you expect?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Watch the runs train</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Results</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A small language model trains on 1 GPU. After half of its pass it moves to 4 GPUs and continues. Three runs do this: one is right, two are wrong on purpose. All of them are real training, on a temporary cluster on this machine.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A restarted data loader begins the pass again: it reads the first half twice and the second half never. A job that keeps the batch of each GPU uses four times as many samples per step on four times as many GPUs, at a learning rate that was chosen for fewer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Consider the samples that a job trains on after the change, and its loss on them at the end. Choose an answer first; the curves stay hidden until you do.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The three runs train one after the other, which takes some minutes on a small machine. Up to the change their curves are identical. Watch what happens after the dashed line.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Which job will have a lower loss on the samples of its second half than the right job?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Position lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Both</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Neither</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lower loss than the right job in these runs: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As you expected, lower loss than the right job: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You expected: %1. Lower loss than the right job in these runs: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Right: each of the %1 samples of the pass was read exactly once.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::CopyLine</name>
    <message>
        <source>Copy the %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::CountdownBar</name>
    <message>
        <source>Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time until the change starts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the countdown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Planning the change. Esc stops it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The change starts in %1 s. Esc stops it.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::DataPage</name>
    <message>
        <source>%1 samples of %2 tokens, %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, weight %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ranks and samples of the next batch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>DATA SETS</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No job is running.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is wrong on purpose: it %2. Its position in the data cannot be derived from its step.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cluster does not report the data of %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is an external program. It reads its data itself; its position in the data is part of its state.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, pass %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 samples done (%3) · global batch %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> · pass ends in ≈ %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>AROUND CHANGE %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>dp was %2 up to position %1 and is %3 from there. No sample is read twice, none is skipped, and a step still uses %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>NEXT BATCHES</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changes of the mesh in this pass are marked on the strip above.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 change of the mesh in this pass. Click its mark on the strip to see its batches.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 changes of the mesh in this pass. Click a mark on the strip to see its batches.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Da&amp;ta</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the pass over the data and the next samples of each rank</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::DecisionPanel</name>
    <message>
        <source>Wait</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue without the lost GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Wait for the lost GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the job does at later losses</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ask</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>continue with what is left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>wait</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>At later losses:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. Nothing of %2 is: other GPUs hold all of its state.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The state after step %1 is complete in memory.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The state after step %1 is complete in memory, but the job cannot continue: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. %2 of %3 have no other copy in memory.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The checkpoint of step %1 is complete on disk: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Missing: %1. The checkpoint of step %2 is complete on disk: %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Missing: %1. The snapshot of step %2 is complete in memory.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Missing: %1. The rest stays in memory.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>waits for the lost GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>continues by itself in %1 s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>continues</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>waits for your choice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue with %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 lost, back to step %2 · reads %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>0 steps lost · moves %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ %1 per step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, was %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restore checkpoint of step %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>0 steps lost · continues when its GPUs are back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>continues if its GPUs come back with their state</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the state stays in memory</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::DeviceChips</name>
    <message>
        <source>%1 is idle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be used now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is used by %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::DiffTableModel</name>
    <message>
        <source>what</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>B</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::DoctorDialog</name>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Doctor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Doctor · %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Findings on the nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the selected findings, or all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check every node again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close the findings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 finding</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 findings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking every node…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The nodes could not be checked: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No node answered.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, no problems.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, 1 needs attention.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, %2 need attention.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::Draft</name>
    <message>
        <source>add %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>remove %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>swap %1 for %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fix %1 = %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unfix %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>change the options</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>discard the draft</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::DraftPlan</name>
    <message>
        <source>A job needs at least one GPU.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 needs %2 GPUs, the draft has %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 uses %2 of %3 GPUs: remove %4 or raise a degree.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cluster changed. Planning again.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::DraftProposal</name>
    <message>
        <source>choose %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::EventTableModel</name>
    <message>
        <source>Time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Severity</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Event</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 · %2
%3</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::EventsPage</name>
    <message>
        <source>Export…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Events</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter events</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≥ info</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≥ warning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>errors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lowest severity shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export the events</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the events shown as CSV or JSON</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow the newest event</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CSV tables (*.csv);;JSON (*.json)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::FileDetails</name>
    <message>
        <source>path</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy path</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Python line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>LOCATION OF THE BYTES</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied the Python line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ranges of bytes and the GPUs that hold them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>and %1 more ranges</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::FileFacts</name>
    <message>
        <source>%1 bytes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (%2 bytes)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One folder per job.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The state of the job as files, all from the same step.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The shards of each rank, one folder per rank.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The shards of rank %1, on %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every tensor in full, whatever the mesh.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The number of the job&apos;s committed layout.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The step of all files of the job.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The mesh, and how it cuts each tensor.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Parameters and buffers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State that only training needs: master weights, moments, scalars and random streams.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step %1, or the job&apos;s step when the file is opened first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This tensor has no elements.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In one range on %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ranges, each on %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, range %2 of %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bytes of the file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>content</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One bar for each replica. Reading fetches only the requested bytes from the GPUs.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::FileTreeModel</name>
    <message>
        <source>1 tensor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tensors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 tensors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1
%2, %3 bytes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor %1, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1
%2 bytes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>size</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::FileTreeView</name>
    <message>
        <source>Files of the jobs</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::FilesPage</name>
    <message>
        <source>command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The selected file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the folder of the selected file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter tensors, or ranks: 17, n2, n2g1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter tensors and ranks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy path</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy Python line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A history file contains no state.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The history contains no state, so there are no files of the past. Return to live to see the files of now.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cluster of a lesson is simulated, so it has no files.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no cluster to show.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The list of files could not be read: %1. Trying again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the list of files…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no connection to the cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No job is running, so there are no files.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no layout yet, so it has no files.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mounted on this machine at %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not mounted on this machine. To mount the files here, run:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>These are the files of the live job. A draft has no files.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Copy the File&apos;s Path</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the path of the file selected in the Files view</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select a file in the Files view first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fil&amp;es</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the state as files, with their paths and the location of their bytes</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::FlowBars</name>
    <message>
        <source>done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::FlowsPage</name>
    <message>
        <source>Moving only</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only flows that move</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show moving flows only</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hide the flows that wait or are done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Flows of the change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No change is in progress. While one is, each flow between two GPUs has a row here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No flow is moving now.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 flows are done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 flows move</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, %1 stalled</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::HeaderBar</name>
    <message>
        <source>Monitor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Live moves</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Live</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the live layout</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Past</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the past</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lesson</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show a lesson</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Live moves: a drop starts a change after a countdown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select the job to show</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go to…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ctrl+K</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go to an action, a GPU, a node, a job, a change or an event</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search actions, GPUs, nodes, jobs, changes and events (Ctrl+K)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 jobs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 — %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SIMULATED, stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SIMULATED %1 ×</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hardware %1, seed %2. %3 simulated seconds pass in a second.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This machine does not compute %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>lesson, epoch %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>at %1, epoch %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>connecting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>paused after step %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, epoch %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>history file, not live</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>paused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Operate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Operate: this panel can change the cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Monitor: this panel cannot change the cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lock (Ctrl+Shift+O)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Switch to Operate (Ctrl+Shift+O)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A drop starts a change after a countdown. Esc stops it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Switch to Operate first (Ctrl+Shift+O)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::HelpWindow</name>
    <message>
        <source>Tessera guide</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search the guide</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Contents</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Previous page</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forward</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next page</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Page of the guide</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::HistoryPage</name>
    <message>
        <source>Export…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft an undo…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export the history</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the history as CSV or JSON</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft an undo of the selected change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft an undo of the selected (or latest) change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>History of changes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ctrl+click a second change to compare two</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The history could not be read: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the history…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The history starts with your first change.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CSV tables (*.csv);;JSON (*.json)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::HistoryTableModel</name>
    <message>
        <source>When</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Moved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Least possible</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Result</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Digests</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Transaction %1: %2
→ %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>digest %1 → %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::Inspector</name>
    <message>
        <source>Flows, slowest first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, rank %2 (joining)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>coordinates</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, rank %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>shards</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>parameters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>optimizer state</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>same shards on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no other GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 replicas of the shards on this GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>joining</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none, idle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (this host)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>address</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>state</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>receives</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 from %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sends</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>computes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of a step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its peers compute %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>waits</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>share of a step in which this GPU waits for others or for data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in a job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>last seen %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 idle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>host</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>agent version</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>jobs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>network</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>since the agent started</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>options</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>median of the last steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>one full replica</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>layout</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>saving, %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>saving</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>every %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>every %1 s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the last was not saved: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>snapshots</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step %1, %2 on %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>up to %1 on %2 while the next is taken</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>taken in %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>lost with its node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the last was given up: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 alive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, %2 idle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>operator</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>limit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (emulated link)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>security</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bulk data between nodes is not encrypted (plain lanes)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Node %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing to inspect</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>memory %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bytes to move</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checksums so far</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 equal</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select a GPU to see what it holds.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::JobPlots</name>
    <message>
        <source>Loss and tokens per second over time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>playhead at %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::Legend</name>
    <message>
        <source>Scale: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shards: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Click an entry to fade the others.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>+%1 more</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::LessonList</name>
    <message>
        <source>%1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, finished</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, step %2 of %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 finished</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::LessonPane</name>
    <message>
        <source>All lessons</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Return to the lesson</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start over</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the experiment…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lesson</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text of the step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the list of lessons</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the answer, or show the next step (Space, →, Page Down)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the step before (←, Page Up)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show this step again, without your draft and your answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The step of the lesson</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lessons</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lesson from a file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lesson %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose an answer first.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::LessonQuestionCard</name>
    <message>
        <source>Your answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>✓ Right: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The answer is %1.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::LessonRecords</name>
    <message>
        <source>The progress of the lessons could not be read. It begins again; the old file is %1.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::LessonSession</name>
    <message>
        <source>This is the last step.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer the question first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::LessonSteps</name>
    <message>
        <source>Step %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::LessonTaskCard</name>
    <message>
        <source>at most</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>at least</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>less than</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>more than</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>exactly</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2 %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2, must be %3 %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your task</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ZeRO</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>micro-batch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>auto</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples of a micro-batch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cut the optimizer state over the replicas</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Free play</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This draft is your own. **Start over** shows the step again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hint: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The plan moves %1, of which %2 over the network; pause ≈ %3.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::LinkCanvas</name>
    <message>
        <source>Bytes between nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bytes between GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>to</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sends</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>receives</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::LinkTableModel</name>
    <message>
        <source>tensor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>range</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>to</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bytes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>time until the flow is done, at the rates of the last seconds</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>state</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>elements %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rows %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>columns %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>dim %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>whole</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 bytes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 bytes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stalled: nothing has arrived for 3 s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>waiting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>moving</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stalled</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::LinkWords</name>
    <message>
        <source>%1 in</source>
        <comment>a port</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 out</source>
        <comment>a port</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the busiest port; no plan can load it less (bound %2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the busiest port; no plan without relays can load it less (bound %2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the busiest port, %2 more than the bound of %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>less than 1 %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: the busiest port, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>inside %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 → %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <comment>from a node to another</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: nothing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2 in %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, stalled at %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, %1 done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, %1 is lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nothing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 sends %2 and receives %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>; %1 inside it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 flow</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 flows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, alone ≈ %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::LinksView</name>
    <message>
        <source>Export…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>planned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Planned links</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show what the draft would move</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>moving</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Moving links</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show what the running change moves</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>past</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Past links</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show what the selected (or latest) change of the history moved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Links between nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the bytes from node to node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Links between GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the bytes from GPU to GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export the rows of the link</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the rows as CSV or JSON</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the link carries</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No job is running.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The plan of the draft is being made, or the draft cannot be planned.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing would move between GPUs. %1 would be read from snapshots or checkpoints.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing would move.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The running change moves nothing between GPUs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is moving. Draft a change to see its links, or choose one in the history.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The history contains no flows of this change.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There was no change before this moment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a change in the history to see its links.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With more than %1 GPUs the links are between nodes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>planning…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>change %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 from snapshots or checkpoints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>colour: bytes of the link, 0 to %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>carries</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nothing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>flows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stalled</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bandwidth</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>known from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>time if alone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All links</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 in %2</source>
        <comment>bytes in flows</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 · choose a link to see what it carries</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading the tensors…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 move</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 moves</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CSV tables (*.csv);;JSON (*.json)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was written</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Links</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Links</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the bytes from node to node of a draft, a running or a past change</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::LogDialog</name>
    <message>
        <source>Follow</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy as command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Logs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Node or rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Least severity</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all lines</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>warnings and errors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>errors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter of the lines</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow new lines</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Read new lines every second and keep the last one in sight</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lines of the log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the lines that are shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>agent of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank %1 of %2, %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cluster has no node.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The lines of %1 could not be read: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the lines of %1…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has written nothing yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 lines</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 lines</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::MainWindow</name>
    <message>
        <source>Select a GPU first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo the last edit of the draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is nothing to undo.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Redo the edit that was undone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is nothing to redo.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Add or Remove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add the selected GPUs to the draft, or remove them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select the &amp;Node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select all GPUs of the current GPU&apos;s node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Step Back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the countdown, or clear the selection, or show Live. A change in progress continues</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Go To…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find an action, a GPU, a node, a job, a change or an event</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This panel has no profiles.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Connect…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Test, connect to or add a cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start &amp;Local Cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start 2 nodes with 4 emulated GPUs each on this machine and connect to them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A local cluster is already starting.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Simulate a Clus&amp;ter…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a simulated cluster of up to 4,096 GPUs and connect to it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A cluster is already starting.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open &amp;History File…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show changes, events and plots from a file instead of a cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Settings…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change colours, size, safety, data and shortcuts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save &amp;Picture…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the window as a PNG file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save picture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>PNG pictures (*.png)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The picture could not be written to %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close the panel. The job and its cluster keep running</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Guide</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Read about the first hour, the mesh, changes, your own job and real clusters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Troubleshooting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look up error messages and what to do about them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Shortcuts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>List every action and its keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;About Tessera</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the version and the licences</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no cluster to show.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft an &amp;Undo…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft an undo of the selected (or latest) change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no change to undo.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Re&amp;load</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Read the history from the cluster again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>E&amp;xport Plots…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the plots as PNG or SVG, or their samples as CSV or JSON</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Save Report…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the selected (or latest) change as a page with pictures, a table or JSON</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no finished change.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No lesson is shown.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1  %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;All Lessons</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the list of lessons and what you have finished</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Open Lesson File…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a lesson that you wrote; it is read again when you save it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Next Step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the answer, or show the next step of the lesson</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step &amp;Back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the step before, exactly as it was</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Start the Step Over</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show this step again, without your draft and your answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Experiment: Keeping the Position in the Data…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train a job three times on this machine, right and wrong, and see what a change of GPUs can cost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This panel cannot start programs on this machine.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Apply…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Carry out the plan of the draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The draft is empty.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Discard the Draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Return to the live layout. Undo restores the draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Copy as Command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the command line for the same plan</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel and &amp;Roll Back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel the change in progress. Before the commit nothing is lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No change is in progress.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The change is already committed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Limit the Rate…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Limit what each node sends and receives for the change in progress</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Limit the rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>MB/s that each node sends and receives; 0: no limit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The rate was not limited: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Live</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the layout that the agents report</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show and edit the draft of a layout. Nothing moves</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>P&amp;ast</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the GPUs and the job at an earlier moment</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>L&amp;esson</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the open lesson, or the next one, on a simulated cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Reduce Motion</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show static arrows instead of moving dots</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pro&amp;jector Mode</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mark the pointer with a ring and show the keys that are pressed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next &amp;Pane</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move the keyboard focus to the next pane</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pre&amp;vious Pane</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move the keyboard focus to the previous pane</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>F&amp;ilter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter the shown view, or else the events</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Navigator</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In&amp;spector and Plan</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;History and Events</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show or hide this pane</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Flo&amp;ws</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the flows of the change in progress, the slowest first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No change has run since the panel connected.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Layout: &amp;Operate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show every pane, to run and change jobs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Layout: &amp;Teach</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show a large mesh with its side pane, for a projector</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Layout: Re&amp;view</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show tall plots, history and events</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rese&amp;t Layout</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restore the default place and size of every pane</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>S&amp;ystem Colours</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Li&amp;ght Colours</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dar&amp;k Colours</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose the colours of the panel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change %1 cannot be undone: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change %1 belongs to job %2, which is not the job shown.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>undo change %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A change is in progress</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The state of %1 is being transferred.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Roll back and quit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep the window open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Main</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Views of the job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Navigator</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Inspector and plan</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Timeline and history</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>History</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Flows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>History and events</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Progress of the change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 in %2 after the drop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change %1 is not in the history yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>undo the last change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>repeat the last change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a lesson</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lessons (*.json);;All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 needs a decision</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the report of change %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Report with pictures (*.html);;Table (*.csv);;JSON (*.json)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The report is in %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The report was not saved: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no job.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The history of the job has no changes and no samples.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The moment of change %1 cannot be shown: the cluster no longer has job %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Starting a local cluster: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is a history file, not a live cluster: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close the file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take over</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The history cannot be written: %1. Monitoring continues.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data settings…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft: nothing moves until you apply it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to live  Esc</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Past: %1, step %2. Nothing here changes the cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back  Esc</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Return to live  Esc</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Simulated: lesson “%1”. Nothing is sent to a cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave  Esc</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for the first node to answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Connection lost. The data shown is from %1. %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Retry now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cluster does not answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cluster refused the connection: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cluster refused the connection</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No job is running. Start one:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a job…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the cluster gave no reason</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 failed: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is suspended, its state is kept: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is starting: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is slow: it computes %2 per step, its peers %3. All GPUs of the job wait for it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft without %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>connecting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>history file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of 1 agent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 agents</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> · operated by %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> · viewer&apos;s key &apos;%1&apos;: changes need an operator&apos;s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>connection lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>refused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>simulated · %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>moving %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step %1 of %2 · %3 of %4 lessons finished</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>draft: %1 added, %2 removed · Ctrl+Z undoes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a decision is needed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no change in progress</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tessera</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The settings could not be saved: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Creating its keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cluster could not be started: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a history file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>History files (*.db *.sqlite);;All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, rank %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, idle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Node %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::Menus</name>
    <message>
        <source>&amp;File</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Plan</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;History</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Learn</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::MeshPage</name>
    <message>
        <source>Zoom &amp;In</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draw the mesh larger</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Zoom &amp;Out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draw the mesh smaller</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Fit All</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the whole mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the GPUs and the shards that they hold</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::MeshScene</name>
    <message>
        <source>leaves</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>idle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>joins</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stays</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>receives %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>starting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sends</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>joining</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no answer for %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>last seen %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>lost %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sends %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>runs %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>joining, %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>leaving</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sending</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>receiving %1 percent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stalled at %1 percent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loading</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>suspect, no answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>shard (tp × pp)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>replica (dp)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pipeline stage (pp)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor slice (tp)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>memory used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 GPU %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>DP %1 TP %2 PP %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> EP %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> CP %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in the pool</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No cluster yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No job is running</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::MeshView</name>
    <message>
        <source>Mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>add %1 to %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>remove %1 from %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ModelMap</name>
    <message>
        <source>Tensors of the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>small (%1)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>layer %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pp %1 · layer %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>mesh %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>after, %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>now, %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1
%2 %3, %4
this part on %5</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::MoveControl</name>
    <message>
        <source>This panel is read-only.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is a history file, not a live cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The profile of this cluster is read-only.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Key &apos;%1&apos; is a viewer&apos;s: only an operator&apos;s key can change this cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Monitor mode: switch to Operate first (Ctrl+Shift+O).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no connection to the cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is a lesson: return to live first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is the past: return to live first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No job is running.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A change is in progress.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change something: drag a GPU or edit an axis.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Planning…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The draft does not change the job.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 would hold %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not enough memory: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The change cannot be recorded: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing was moved. %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing was moved: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The change was not cancelled: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No checkpoint was saved: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The job could not be changed: %1.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::Navigator</name>
    <message>
        <source>JOB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CLUSTER</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tensors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Replicas</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Global batch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ends at step</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::NoticeBar</name>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Action of the notice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::OperatorSeat</name>
    <message>
        <source>%1, since %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Taken over by %1. This panel is in Monitor.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This cluster is operated by %1. This panel is in Monitor.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::PalettePreview</name>
    <message>
        <source>Preview of the colours under four kinds of colour vision</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Smallest difference between two of the nine: normal %1, deutan %2, protan %3, tritan %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Normal</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Deutan: no green cones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Protan: no red cones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tritan: no blue cones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>closest two ΔE %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ParetoScatter</name>
    <message>
        <source>Configurations by step time and pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pause, ≈ s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step, ≈ s</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::PassStrip</name>
    <message>
        <source>The pass over the data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 samples done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 change of the mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 changes of the mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>dp %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>dp %1 → %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>change %1, after step %2: %3 samples were done, dp %4 → %5</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>position %1: done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>position %1: not read yet</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::PlacedFile</name>
    <message>
        <source>header</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::PlacementStrip</name>
    <message>
        <source>GPUs that hold the bytes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bytes %1 to %2: %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>and %1 more replicas</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>created when read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>held by %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1
bytes %2 to %3, %4
%5</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::PlacementTableModel</name>
    <message>
        <source>bytes of the file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whether a replica is on this machine. Reading it then needs no transfer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>yes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 bytes</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::PlanPanel</name>
    <message>
        <source>ZeRO</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Discard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plan</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ZeRO: cut the optimizer state over the replicas</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cut the optimizer state over the data-parallel replicas. Each GPU then needs less memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>micro-batch </source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>micro-batch auto</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples per forward and backward pass</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Samples per forward and backward pass. 0: the trainer chooses</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the plan as a command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the command line for the same plan</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Discard the draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Return to the live layout. Undo restores the draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 degree</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Degree of %1. Typing or the arrow keys fix it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fix %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep %1 at this value. The cluster chooses the degrees that are not fixed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no changes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>new mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>draft %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>planning…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 = %2 of %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>global batch stays %1: 1 sample per replica</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>global batch stays %1: %2 samples per replica</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Apply</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Apply: read-only panel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Apply: only in Operate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Applying…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Apply: move %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Apply: move %1…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Carry out the change. Until the commit it can be rolled back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Configurations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Configurations that the job could use</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Configurations appear once the job has GPUs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Requesting configurations…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There are no configurations: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No configuration of the job uses these GPUs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ estimates, not calibrated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ estimates</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Based on built-in constants. Run tesseractl probe to measure this cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (at most %2 % above the least)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (provably the least)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recommended: %1, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drag a GPU, edit an axis, or choose below</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Planning…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No plan</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What will happen: planning…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What will happen</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>network</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>storage</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pause (estimate)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, now ≈ %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step (estimate)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>peak memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>highest on %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>busiest port</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nothing moves</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. Least of any plan: %2 direct, %3 with relay. Bandwidths: %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>relayed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 over the network instead of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>held only once</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 in %2 shards</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>can be rolled back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>yes, until the commit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>does not fit on</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::PlotBand</name>
    <message>
        <source>Change %1: %2, pause %3, %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 → %2, %3</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ProfileFields</name>
    <message>
        <source>Enter a name for the cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use lower-case letters, digits and dashes, at most 63.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A profile named %1 already exists.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For example tcp://10.0.0.5:40001</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The path after ipc:// is missing.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The address must be tcp://HOST:PORT.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Port %1 is not between 1 and 65535.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Events use a different port than the registrar.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter the cluster&apos;s public key, 40 characters.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A public key has 40 characters; this one has %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A public key cannot contain &apos;%1&apos;.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter the file of your own key pair.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter the full path, starting with /.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This file does not exist.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This path is not a file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You have no permission to read this file.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ProfileForm</name>
    <message>
        <source>Add cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paste a profile file here, or fill in the fields below</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text of a profile file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Registrar</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Events</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Server key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the cluster&apos;s public key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Key file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>your own key pair</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose the key file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close without adding a cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Some fields are missing or invalid.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Profile read. Check the key file: the path must be on this machine.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ProgressPanel</name>
    <message>
        <source>Cancel and roll back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save report…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plan the next change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save a report of the change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close the outcome</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plan an undo…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plan again…</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::Report</name>
    <message>
        <source>Not recorded.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the job is paused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the job trains</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The digests of the state were not recorded.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The state is the same before and after. Its digest:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The digests differ:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 moved between GPUs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 moved. No plan for this change can move less.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 moved. Every plan for this change moves at least %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>requested by</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPUs before</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPUs after</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>options before</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>options after</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>after step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Before the change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>After the change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The job was paused for %1; the plan estimated %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The job was paused for %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stayed on their GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>inside a host</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>over the network</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Flows, largest first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>to</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bytes</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ScenePainter</name>
    <message>
        <source>Pool</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>empty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 idle</source>
        <comment>4 GPUs idle</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, %1 lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> · %1 in other jobs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>drop GPUs here to remove them from the job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drag GPUs here to add them to %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>or select them in the pool and press Space</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pool</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::Settings</name>
    <message>
        <source>The settings in %1 cannot be read (%2). The panel uses its defaults.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The settings file was damaged (%1). The panel uses its defaults and kept the file as %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The settings file was damaged (%1). The panel uses its defaults.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::SettingsDialog</name>
    <message>
        <source>General</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Language</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Also the format of numbers and dates. Guide and lessons are in English.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Colours</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System follows the desktop.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Light</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reduce motion</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shows static arrows and percentages instead of moving dots.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Desktop notices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>When a change ends or needs a decision while another window is active.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Scales the whole panel, for projectors and small screens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Takes effect after a restart.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restart the panel now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nine colours name the shards of a model; further shards repeat them with a pattern. Four more mark states, always together with a shape. The preview shows them for each kind of colour vision, with the difference between the two closest colours (a ΔE2000 of 2 is just visible).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shard colours: Paul Tol&apos;s scheme &quot;muted&quot;. Simulation: Machado, Oliveira, Fernandes 2009, severity 1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Safety</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Countdown in live mode</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time between a drop and the start of its change. Esc stops it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lock automatically</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Operate returns to Monitor after this time without input.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>min</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ask before a change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Applies outside live mode. Cancel is always safe.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Always</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Large changes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>MiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A change is large above</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Counts the bytes that move to another GPU.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A change that cannot be rolled back always asks.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep a copy of the history</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stores changes, events and samples of the clusters that you watch, to read them without a connection.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Maximum size of a copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Per cluster. The oldest samples are deleted first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copies</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Profiles, keys, local clusters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only you can read these files. Nothing is sent anywhere.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>empty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 in %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset this page</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pages</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset this page to its defaults</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::SettingsPage</name>
    <message>
        <source>%L1 to %L2 %3</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ShareTableModel</name>
    <message>
        <source>rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>dp %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>samples</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>positions of the pass</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sample numbers</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ShortcutSheet</name>
    <message>
        <source>Shortcuts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All actions and their shortcuts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Action</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Description</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::ShortcutsPage</name>
    <message>
        <source>Shortcuts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Set</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Default</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find an action or a key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Actions and their keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Action</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Menu</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Set the keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove the keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restore the default keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Default: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter a single key combination.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is already used by %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The mesh handles this key. It cannot be changed.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::SimulateDialog</name>
    <message>
        <source>Simulate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Simulate a Cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One process plays all nodes: the real registrar and agents, with modelled GPUs and links. Nothing is trained, and no GPU is needed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPUs per node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;GPUs per node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Hardware</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start the simulated cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 GPUs: at most %2 are simulated.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n GPU(s); half of the nodes begin with a job that trains.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tessera::ui::StartForm</name>
    <message>
        <source>Precision</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Type of the parameters. bf16 keeps fp32 masters beside them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dropout</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Probability of dropout in embeddings, attention and residual branches.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Highest rate, after the warm-up.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lowest learning rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rate at the end of the cosine.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warm-up steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps in which the learning rate rises to its highest value.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cosine steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps in which the learning rate falls to its lowest value.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weight decay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decoupled weight decay of AdamW.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Beta 1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decay of AdamW&apos;s first moment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Beta 2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decay of AdamW&apos;s second moment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epsilon</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Added to the denominator of AdamW.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Largest gradient norm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Gradients with a larger norm are scaled down; 0 switches this off.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Collective timeout</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seconds that a rank waits for another in one collective; 0: 20 usual steps, at least 30 s.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data at a change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What happens to the position in the data when the mesh changes. All but keep are deliberate mistakes for lessons.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Blocks of the model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Width</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Size of a hidden state. The heads divide it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Heads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attention heads of a layer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Key and value heads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shared by groups of heads; 0: as many as heads.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Feed-forward width</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Inner size of the MLP.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Vocabulary</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Different tokens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sequence</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens of a sample.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Gated MLP</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SwiGLU in place of GELU.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tied head</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The head is the token embedding.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GELU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Form of GELU of an MLP that is not gated.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use lower-case letters, digits and dashes, at most 63.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is a job %1 already.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a program in Python, such as train.py.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A program in Python ends in .py.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter the full path, starting with /.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This file does not exist.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is not the full path of a folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a number from %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a full path, starting with /.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a number from %2 to %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is neither steps (20) nor a time (30s, 5m, 1h).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a number from 1 to %2, the idle GPUs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter a number of GPUs, or their names, such as n0g0,n0g1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No GPU is idle: %1 uses %2. Take some out of it, or stop it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No GPU is idle.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is used by %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not an idle GPU of this cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of the initial state and of the order of samples.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 parameters · %2 layers · %3 of state</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::StartJobDialog</name>
    <message>
        <source>command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Built-in model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train a built-in model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A program of your own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train a program of your own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Program in Python</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It uses the package tessera: guide, “PyTorch”.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a program in Python</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>texts on the nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>paths on the nodes, separated by ;</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a folder with data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Global batch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>samples per step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sequence</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Arguments</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Python</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>with the same path on all nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Working directory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>that of the program</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose the working directory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>until stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>If GPUs are lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ask</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>go on with fewer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>wait for them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Snapshot every</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>20 (steps), 30s, 5m</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A snapshot copies the state into the memory of two nodes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Configurations in which the job could start</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Each GPU will hold</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same as a command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the idle one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all %1 idle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a number, or names such as n0g0,n0g1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ estimates</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cluster chooses the configuration. To see it first, let the panel look into the program: that runs it on this machine up to the point where it says which tensors it has.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Configurations appear once the answers on the left are right.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Looking into the program…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Looking for configurations…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There are no configurations: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No configuration of the job uses these GPUs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Machines measured on %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Times are guesses: tesseractl probe measures this cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look into the program</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>parameters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>AdamW</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>gradients</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>state and gradients</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It does not fit: a GPU would hold %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Less than 10 % of a GPU is left. A later change of the mesh may need more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cluster is starting the job.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A change is in progress.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not enough memory: a GPU would hold %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start %1 on %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Programs in Python (*.py)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is not known whether %1 starts: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 did not start: %2.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::StatePage</name>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Retry now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start local cluster (2 nodes × 4 GPUs)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Simulate a cluster…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Connect…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open history file…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Command that starts a local cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Retry the connection now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a local cluster of 2 nodes with 4 GPUs each</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Simulate a cluster of any size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Connect to another cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a history file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No cluster yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a cluster of 2 nodes with 4 emulated GPUs each on this machine, simulate a larger one, connect to one that runs, or open a history file. The first button runs this command:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a local cluster of 2 nodes with 4 emulated GPUs each, then open the panel again:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Starting a cluster…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>History file, not a live cluster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1
Its changes, events and samples are shown below.
Choose Past, or click in the timeline, to see its GPUs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::TensorCanvas</name>
    <message>
        <source>Shards of the tensor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, held by %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>dim %1: %2 to %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the scalar</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 stays</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 stay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ← %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>now, %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>after, %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>and %1 more sheets</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>and %1 more shards</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>shard %1: %2, %3, %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shard %1
%2
%3, %4</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::TensorFrame</name>
    <message>
        <source>dim %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>dim %1: %2 to %3</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::TensorGroupModel</name>
    <message>
        <source>tensor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>×</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The number of equal tensors: one per layer or expert</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bytes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bytes of one copy of all tensors of the row</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>held</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ×</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1–%2 ×</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How many GPUs hold the same bytes. What only one holds is lost with it</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::TensorsView</name>
    <message>
        <source>scalar</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Before and after</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What to show: the job, or a model of the catalogue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the tensors of the job, or of a model of the catalogue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mesh for the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The mesh on which the model is shown, as in dp=2,tp=8,pp=4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter: name, role, dtype</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter tensors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Optimizer state</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Buffers and scalars</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All tensors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Role of the tensors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tensors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>whole model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show all tensors, a row per layer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>layer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the tensors of one layer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Layer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>one tensor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the shards of one tensor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the shards before and after the change side by side</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The job</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The layout cannot be shown: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dividing the tensors among the GPUs…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models of the catalogue can be chosen in the list at the left.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no cluster to show.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A history file contains no tensors.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No job is running.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tensors could not be read: %1. Trying again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the tensors…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has no layout yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Job %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>dim %1 over %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>experts over ep</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>flat over %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stage by layer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>first stage</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>last stage</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>first and last stage</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all stages</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 replica: held only once</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 replicas</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>σ slice: %1   → φ partition: %2   → α allocate: %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>whole</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of one copy, %2 tensors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>width: square root of the bytes · click a tensor to open it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a row per layer, a column per tensor · click a tensor to open it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Grey is the same on GPUs of different colours. Point at a part to see the GPUs that hold it, or at a GPU in the navigator or mesh to see its parts.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tensors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 segments, each cut for itself</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shard %1: %2 · %3 · %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing of %1 is sent.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 are sent to GPUs that do not hold them (+); one copy has %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Point at a shard to see the GPUs that hold it. Drag GPUs in or out to see where the shards would go.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Tensors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the tensors, how they are cut, and which GPUs hold the shards</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::TimelinePage</name>
    <message>
        <source>Go to the previous change or event</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Play the past</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go to the next change or event</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the whole time and follow the newest sample</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the whole time and follow the newest sample (double click)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export the plots</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the plots as PNG or SVG, or their samples as CSV or JSON</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Previous change or event (Left, in the plots)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next change or event (Right, in the plots)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seconds of the past per second: slower with comma, faster with period</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause (Space, in the plots)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Play the past in every view (Space, in the plots)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1×</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed: %1 seconds per second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No job is running. The loss and speed of a job appear here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the samples of %1…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has not reported a step yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no connection to the cluster.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The samples could not be read: %1. Trying again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading older samples…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the samples could not be read; trying again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not following</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There are no samples to export.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>PNG picture (*.png);;SVG drawing (*.svg);;CSV table of the samples (*.csv);;JSON of the samples (*.json)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::TxnView</name>
    <message>
        <source>Until the commit the old layout is intact. Cancelling costs only time.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reason: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 to %2 left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>limited to %1 per node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The new layout is committed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training resumed at step %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pause %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 checksums equal</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Moved %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>prepare</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>transfer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>verify</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>commit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reconfiguring %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cluster has accepted the plan.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 GPU is starting. Training continues.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 GPUs are starting. Training continues.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The ranks create their new groups. Training continues.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copying ahead. Training continues.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for the current step to end.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for step %1 to end.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Transferring the state.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Comparing checksums: %1 equal so far.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Switching to the new layout. The change is decided and can no longer be cancelled.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The new layout is committed. The ranks resume.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reconfigured %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rolling back %1 to %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The old layout is intact.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rolled back in %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rolled back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 keeps its old layout, %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The change of %1 failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cluster gave no reason.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 needs a decision</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The change is waiting. Nothing is lost.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The outcome of the change of %1 is unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Both layouts are kept until the outcome is known.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::TypedNameDialog</name>
    <message>
        <source>Type %1 to confirm:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name to type: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy as command</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>tessera::ui::format</name>
    <message>
        <source>%1 of %2</source>
        <comment>118 of 512 MiB</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>µs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ms</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 min %2 s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 h %2 min</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>just now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 s ago</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 min ago</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 h ago</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 d ago</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>G</source>
        <comment>thousand millions</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>M</source>
        <comment>millions</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>k</source>
        <comment>thousands</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 GPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not a valid value</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not found</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Already exists</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not possible now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not reachable</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No answer in time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancelled</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data damaged or lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Out of space</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not supported</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Internal error</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not allowed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <comment>kind of error: its words</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>joining</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>alive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>suspect</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unreachable</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>starting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pausing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>paused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reconfiguring</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>needs a decision</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>suspended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>planned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>preparing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>copying ahead</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>transferring</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>verifying</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>committing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>resuming</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rolling back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rolled back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>outcome unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>debug</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>info</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>warning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>error</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
