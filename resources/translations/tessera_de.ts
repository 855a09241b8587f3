<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>Checks</name>
    <message>
        <source>refused keys</source>
        <translation>abgelehnte Schlüssel</translation>
    </message>
    <message>
        <source>agent</source>
        <translation>Agent</translation>
    </message>
    <message>
        <source>version</source>
        <translation>Version</translation>
    </message>
    <message>
        <source>clock</source>
        <translation>Uhr</translation>
    </message>
    <message>
        <source>key file</source>
        <translation>Schlüsseldatei</translation>
    </message>
    <message>
        <source>allowed keys</source>
        <translation>zugelassene Schlüssel</translation>
    </message>
    <message>
        <source>jobs</source>
        <translation>Jobs</translation>
    </message>
    <message>
        <source>ports</source>
        <translation>Ports</translation>
    </message>
    <message>
        <source>lanes</source>
        <translation>Lanes</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>disk</source>
        <translation>Festplatte</translation>
    </message>
    <message>
        <source>huge pages</source>
        <translation>Huge Pages</translation>
    </message>
    <message>
        <source>/dev/fuse</source>
        <translation>/dev/fuse</translation>
    </message>
    <message>
        <source>congestion control</source>
        <translation>Staukontrolle</translation>
    </message>
    <message>
        <source>open files</source>
        <translation>offene Dateien</translation>
    </message>
    <message>
        <source>BLAS</source>
        <translation>BLAS</translation>
    </message>
    <message>
        <source>trainer</source>
        <translation>Trainer</translation>
    </message>
    <message>
        <source>CUDA driver</source>
        <translation>CUDA-Treiber</translation>
    </message>
    <message>
        <source>kernels</source>
        <translation>Kernels</translation>
    </message>
    <message>
        <source>NCCL</source>
        <translation>NCCL</translation>
    </message>
    <message>
        <source>history</source>
        <translation>Verlauf</translation>
    </message>
    <message>
        <source>journal</source>
        <translation>Journal</translation>
    </message>
    <message>
        <source>job table</source>
        <translation>Job-Tabelle</translation>
    </message>
</context>
<context>
    <name>Sentences</name>
    <message>
        <source>its row that cannot be read was forgotten</source>
        <translation>seine unlesbare Zeile wurde vergessen</translation>
    </message>
    <message>
        <source>n%1 keeps a later copy of the job table than registrar.db has ever had: the file was lost or replaced by an old copy. Copies of nodes are not overwritten until `tesseractl registrar rebuild`</source>
        <translation>n%1 hat eine neuere Kopie der Job-Tabelle, als registrar.db je hatte: die Datei ging verloren oder wurde durch eine alte Kopie ersetzt. Die Kopien der Knoten werden bis zu `tesseractl registrar rebuild` nicht überschrieben</translation>
    </message>
    <message>
        <source>the job table was rebuilt: %1 restored%2</source>
        <translation>die Job-Tabelle wurde wiederhergestellt: %1%2</translation>
    </message>
    <message>
        <source>it cannot return to the snapshot of step %1: the nodes that are there do not hold all of it</source>
        <translation>er kann nicht zum Snapshot von Schritt %1 zurückkehren: Die vorhandenen Knoten halten ihn nicht vollständig</translation>
    </message>
    <message>
        <source>it cannot return to the snapshot of step %1, which was taken before the job went back to an earlier step</source>
        <translation>er kann nicht zum Snapshot von Schritt %1 zurück, der entstand, bevor der Job zu einem früheren Schritt zurückging</translation>
    </message>
    <message>
        <source>the snapshot of step %1 is incomplete: %2 report no share</source>
        <translation>der Snapshot von Schritt %1 ist unvollständig: %2 melden keinen Anteil</translation>
    </message>
    <message>
        <source>it can return to the snapshot of step %1, which its nodes still hold; choose again with `tesseractl job snapshots %2` whether snapshots are taken</source>
        <translation>er kann zum Snapshot von Schritt %1 zurückkehren, den seine Knoten noch halten; mit `tesseractl job snapshots %2` neu festlegen, ob Snapshots genommen werden</translation>
    </message>
    <message>
        <source>its row in the job table was rebuilt from its nodes: epoch %1, after step %2</source>
        <translation>seine Zeile in der Job-Tabelle wurde aus seinen Knoten wiederhergestellt: Epoche %1, nach Schritt %2</translation>
    </message>
    <message>
        <source>%1 completes no handshake: is it the registrar, and is its public key the &apos;%2&apos; of this node&apos;s configuration?</source>
        <translation>%1 schließt keinen Handshake ab: ist es der Registrar, und ist sein öffentlicher Schlüssel das &apos;%2&apos; in der Konfiguration dieses Knotens?</translation>
    </message>
    <message>
        <source>the registrar at %1 refuses this node&apos;s key &apos;%2&apos;: copy the .pub file of n%3, with the line &apos;role node %4&apos;, into the folder of allowed keys on the registrar&apos;s node</source>
        <translation>der Registrar unter %1 lehnt den Schlüssel &apos;%2&apos; dieses Knotens ab: die .pub-Datei von n%3 mit der Zeile &apos;role node %4&apos; in den Ordner der zugelassenen Schlüssel auf dem Knoten des Registrars kopieren</translation>
    </message>
    <message>
        <source>if it is a node or user of yours, copy its .pub file to %1 on this node, with the line &apos;role node N&apos; for a node</source>
        <translation>gehört er zu einem eigenen Knoten oder Nutzer, seine .pub-Datei nach %1 auf diesem Knoten kopieren, bei einem Knoten mit der Zeile &apos;role node N&apos;</translation>
    </message>
    <message>
        <source>joined with %1</source>
        <translation>ist mit %1 beigetreten</translation>
    </message>
    <message>
        <source>the agent restarted and rejoined; its ranks continued</source>
        <translation>der Agent wurde neu gestartet und ist wieder da; seine Ranks liefen weiter</translation>
    </message>
    <message>
        <source>is back</source>
        <translation>ist wieder da</translation>
    </message>
    <message>
        <source>suspect: no heartbeat for %1</source>
        <translation>verdächtig: seit %1 kein Herzschlag</translation>
    </message>
    <message>
        <source>dead: it was killed or given up</source>
        <translation>tot: beendet oder aufgegeben</translation>
    </message>
    <message>
        <source>unmanaged: silent for %1</source>
        <translation>unverwaltet: seit %1 still</translation>
    </message>
    <message>
        <source>killed on request</source>
        <translation>auf Wunsch beendet</translation>
    </message>
    <message>
        <source>given up: what it holds counts as lost</source>
        <translation>aufgegeben: Was der Knoten hält, gilt als verloren</translation>
    </message>
    <message>
        <source>frees what it holds of &apos;%1&apos;, which runs without it</source>
        <translation>gibt frei, was er von „%1“ hält; der Job läuft ohne ihn</translation>
    </message>
    <message>
        <source>its machine, address or link has changed; its measured bandwidths are dropped</source>
        <translation>Rechner, Adresse oder Leitung haben sich geändert; die gemessenen Bandbreiten werden verworfen</translation>
    </message>
    <message>
        <source>the device failed (on request)</source>
        <translation>die GPU ist ausgefallen (auf Wunsch)</translation>
    </message>
    <message>
        <source>the cluster goes down on request</source>
        <translation>der Cluster wird auf Wunsch beendet</translation>
    </message>
    <message>
        <source>cluster &apos;%1&apos; was stopped on request (%2)</source>
        <translation>Cluster „%1“ wurde auf Wunsch beendet (%2)</translation>
    </message>
    <message>
        <source>already committed</source>
        <translation>schon wirksam</translation>
    </message>
    <message>
        <source>%1 operates the cluster</source>
        <translation>%1 bedient den Cluster</translation>
    </message>
    <message>
        <source>%1 operates the cluster instead of %2</source>
        <translation>%1 bedient den Cluster an Stelle von %2</translation>
    </message>
    <message>
        <source>%1 no longer operates the cluster</source>
        <translation>%1 bedient den Cluster nicht mehr</translation>
    </message>
    <message>
        <source>%1 no longer operates the cluster: its panel was silent for %2</source>
        <translation>%1 bedient den Cluster nicht mehr: Das Panel war %2 still</translation>
    </message>
    <message>
        <source>%1 takes over as the registrar: no node has reported yet</source>
        <translation>%1 übernimmt als Registrar: Noch hat sich kein Knoten gemeldet</translation>
    </message>
    <message>
        <source>%1 takes over as the registrar: no node has reported yet, waiting for %2</source>
        <translation>%1 übernimmt als Registrar: Noch hat sich kein Knoten gemeldet, erwartet werden %2</translation>
    </message>
    <message>
        <source>%1 takes over as the registrar: %2 reported</source>
        <translation>%1 übernimmt als Registrar: Gemeldet haben sich %2</translation>
    </message>
    <message>
        <source>%1 takes over as the registrar: %2 reported, waiting for %3</source>
        <translation>%1 übernimmt als Registrar: Gemeldet haben sich %2, erwartet werden %3</translation>
    </message>
    <message>
        <source>%1 takes over as the registrar: %2 reported, waiting for %3; etcd notes a later job table than these nodes have: start a node that has it, or `tesseractl registrar move n%4 --older` uses the older one</source>
        <translation>%1 übernimmt als Registrar: Gemeldet haben sich %2, erwartet werden %3; in etcd ist eine neuere Job-Tabelle vermerkt, als diese Knoten haben: Einen Knoten starten, der sie hat, oder mit `tesseractl registrar move n%4 --older` die ältere verwenden</translation>
    </message>
    <message>
        <source>the stored calibration cannot be read: %1</source>
        <translation>die gespeicherte Kalibrierung ist nicht lesbar: %1</translation>
    </message>
    <message>
        <source>the stored bandwidths cannot be read: %1</source>
        <translation>die gespeicherten Bandbreiten sind nicht lesbar: %1</translation>
    </message>
    <message>
        <source>calibration installed</source>
        <translation>Kalibrierung übernommen</translation>
    </message>
    <message>
        <source>calibration measured on %1</source>
        <translation>Kalibrierung gemessen auf %1</translation>
    </message>
    <message>
        <source>the history was damaged (%1); it is kept as %2, and a new one was created</source>
        <translation>der Verlauf war beschädigt (%1); er liegt als %2, und ein neuer wurde angelegt</translation>
    </message>
    <message>
        <source>links measured with %1 in %2</source>
        <translation>Leitungen mit %1 gemessen, in %2</translation>
    </message>
    <message>
        <source>journal: %1</source>
        <translation>Journal: %1</translation>
    </message>
    <message>
        <source>dropped %1</source>
        <translation>verworfen: %1</translation>
    </message>
    <message>
        <source>dropped %1, %2 times</source>
        <translation>verworfen: %1, %2-mal</translation>
    </message>
    <message>
        <source>its record in the history cannot be read: %1</source>
        <translation>sein Eintrag im Verlauf ist nicht lesbar: %1</translation>
    </message>
    <message>
        <source>row &apos;%1&apos; of registrar.db cannot be read and is kept as &apos;%2&apos;: %3</source>
        <translation>Zeile &apos;%1&apos; von registrar.db ist nicht lesbar und bleibt als &apos;%2&apos; erhalten: %3</translation>
    </message>
    <message>
        <source>its outcome was missing in the history: %1</source>
        <translation>sein Ausgang fehlte im Verlauf: %1</translation>
    </message>
    <message>
        <source>the registrar&apos;s agent ended before it recorded the outcome</source>
        <translation>der Agent des Registrars endete, bevor er den Ausgang verzeichnet hatte</translation>
    </message>
    <message>
        <source>the registrar&apos;s agent ended before the transaction began</source>
        <translation>der Agent des Registrars endete, bevor die Transaktion begann</translation>
    </message>
    <message>
        <source>registrar.db, which had its outcome, was lost, or the cluster was stopped; `tesseractl status` shows the job if it is still there</source>
        <translation>registrar.db mit ihrem Ausgang ging verloren, oder der Cluster wurde beendet; `tesseractl status` zeigt den Job, wenn es ihn noch gibt</translation>
    </message>
    <message>
        <source>refuses %1: not in its folder of allowed keys</source>
        <translation>lehnt %1 ab: nicht in seinem Ordner zugelassener Schlüssel</translation>
    </message>
    <message>
        <source>%1 lines of ranks are in `job logs` only</source>
        <translation>%1 Zeilen von Ranks stehen nur in `job logs`</translation>
    </message>
    <message>
        <source>sends too many events; %1 were dropped</source>
        <translation>sendet zu viele Ereignisse; %1 wurden verworfen</translation>
    </message>
    <message>
        <source>refused process %1: it says that it is %2 of &apos;%3&apos;</source>
        <translation>Prozess %1 abgelehnt: Er gibt sich als %2 von „%3“ aus</translation>
    </message>
    <message>
        <source>transaction %1: %2; the agent stops</source>
        <translation>Änderung %1: %2; der Agent endet</translation>
    </message>
    <message>
        <source>starts: %1</source>
        <translation>startet: %1</translation>
    </message>
    <message>
        <source>wrong on purpose: it %1</source>
        <translation>absichtlich falsch: Der Job %1</translation>
    </message>
    <message>
        <source>training on %1</source>
        <translation>trainiert auf %1</translation>
    </message>
    <message>
        <source>training on %1, after step %2</source>
        <translation>trainiert auf %1, nach Schritt %2</translation>
    </message>
    <message>
        <source>failed: %1</source>
        <translation>fehlgeschlagen: %1</translation>
    </message>
    <message>
        <source>stopped while its data were opened</source>
        <translation>beendet, während seine Daten geöffnet wurden</translation>
    </message>
    <message>
        <source>stopped after step %1; its memory is free</source>
        <translation>nach Schritt %1 beendet; sein Speicher ist frei</translation>
    </message>
    <message>
        <source>paused after step %1</source>
        <translation>nach Schritt %1 angehalten</translation>
    </message>
    <message>
        <source>paused after step %1; transferring %2</source>
        <translation>nach Schritt %1 angehalten; %2 werden übertragen</translation>
    </message>
    <message>
        <source>paused after step %1: %2; `job resume` tries again</source>
        <translation>nach Schritt %1 angehalten: %2; `job resume` versucht es erneut</translation>
    </message>
    <message>
        <source>resumed after step %1</source>
        <translation>nach Schritt %1 fortgesetzt</translation>
    </message>
    <message>
        <source>its program has made all of its steps</source>
        <translation>sein Programm hat alle Schritte gemacht</translation>
    </message>
    <message>
        <source>all %1 steps are made</source>
        <translation>alle %1 Schritte sind gemacht</translation>
    </message>
    <message>
        <source>%1; its state is kept</source>
        <translation>%1; sein Zustand bleibt erhalten</translation>
    </message>
    <message>
        <source>data: %1</source>
        <translation>Daten: %1</translation>
    </message>
    <message>
        <source>data: a rank cannot read its samples</source>
        <translation>Daten: Ein Rank kann seine Samples nicht lesen</translation>
    </message>
    <message>
        <source>%1 computes %2 per step, its peers %3: the job waits for it; without it: %4</source>
        <translation>%1 rechnet %2 pro Schritt, die anderen %3: Der Job wartet darauf; ohne sie: %4</translation>
    </message>
    <message>
        <source>%1 is no longer slower than its peers</source>
        <translation>%1 ist nicht mehr langsamer als die anderen</translation>
    </message>
    <message>
        <source>the rank on %1 exited with status %2</source>
        <translation>der Rank auf %1 endete mit Status %2</translation>
    </message>
    <message>
        <source>the rank on %1 ended with signal %2</source>
        <translation>der Rank auf %1 endete mit Signal %2</translation>
    </message>
    <message>
        <source>the rank on %1 exited with status %2: %3</source>
        <translation>der Rank auf %1 endete mit Status %2: %3</translation>
    </message>
    <message>
        <source>the rank on %1 was killed by signal %2</source>
        <translation>der Rank auf %1 wurde durch Signal %2 beendet</translation>
    </message>
    <message>
        <source>the rank on %1 was killed by signal %2: %3</source>
        <translation>der Rank auf %1 wurde durch Signal %2 beendet: %3</translation>
    </message>
    <message>
        <source>suspended after step %1: %2; its nodes keep what they hold of it</source>
        <translation>nach Schritt %1 ausgesetzt: %2; seine Knoten behalten, was sie von ihm halten</translation>
    </message>
    <message>
        <source>still suspended after step %1: %2</source>
        <translation>weiter ausgesetzt nach Schritt %1: %2</translation>
    </message>
    <message>
        <source>%1; its ranks ended %2 times within %3 steps, so they are not started again</source>
        <translation>%1; seine Ranks endeten %2-mal innerhalb von %3 Schritten und werden nicht neu gestartet</translation>
    </message>
    <message>
        <source>%1; another start would fail in the same way: correct the program, then `tesseractl job resume %2`</source>
        <translation>%1; ein weiterer Start würde ebenso scheitern: das Programm berichtigen, dann `tesseractl job resume %2`</translation>
    </message>
    <message>
        <source>%1 returns to %2 as %3: its ranks have made no step as %4</source>
        <translation>%1 geht auf %2 als %3 zurück: seine Ranks haben als %4 keinen Schritt gemacht</translation>
    </message>
    <message>
        <source>it does not return to %1 as %2: %3</source>
        <translation>er geht nicht auf %1 als %2 zurück: %3</translation>
    </message>
    <message>
        <source>the update of step %1 is missing on %2</source>
        <translation>die Aktualisierung von Schritt %1 fehlt auf %2</translation>
    </message>
    <message>
        <source>%1 was lost</source>
        <translation>%1 ging verloren</translation>
    </message>
    <message>
        <source>not started again: %1</source>
        <translation>nicht neu gestartet: %1</translation>
    </message>
    <message>
        <source>started again on %1 after %2, no step lost (%3)</source>
        <translation>auf %1 neu gestartet nach %2, kein Schritt verloren (%3)</translation>
    </message>
    <message>
        <source>the update of step %1 is made on %2 first</source>
        <translation>die Aktualisierung von Schritt %1 wird zuerst auf %2 gemacht</translation>
    </message>
    <message>
        <source>continues on %1 after %2 (%3)</source>
        <translation>läuft auf %1 weiter nach %2 (%3)</translation>
    </message>
    <message>
        <source>%1 continues on %2 as %3, %4 (%5)</source>
        <translation>%1 läuft auf %2 als %3 weiter, %4 (%5)</translation>
    </message>
    <message>
        <source>no step lost: %1</source>
        <translation>kein Schritt verloren: %1</translation>
    </message>
    <message>
        <source>back to the checkpoint of step %1, %2 lost: %3</source>
        <translation>zurück zum Checkpoint von Schritt %1, %2 verloren: %3</translation>
    </message>
    <message>
        <source>back to the snapshot of step %1, %2 lost: %3</source>
        <translation>zurück zum Snapshot von Schritt %1, %2 verloren: %3</translation>
    </message>
    <message>
        <source>nobody has decided: %1</source>
        <translation>niemand hat entschieden: %1</translation>
    </message>
    <message>
        <source>decided: %1</source>
        <translation>entschieden: %1</translation>
    </message>
    <message>
        <source>not recovered: %1</source>
        <translation>nicht wiederhergestellt: %1</translation>
    </message>
    <message>
        <source>what can be done is being worked out</source>
        <translation>was möglich ist, wird gerade berechnet</translation>
    </message>
    <message>
        <source>%1 of its state have no live copy, and there is no snapshot and no checkpoint</source>
        <translation>%1 seines Zustands haben keine lebende Kopie, und es gibt keinen Snapshot und keinen Checkpoint</translation>
    </message>
    <message>
        <source>parts of its state have no live copy</source>
        <translation>Teile seines Zustands haben keine lebende Kopie</translation>
    </message>
    <message>
        <source>no route to the peer</source>
        <translation>kein Weg zur Gegenstelle</translation>
    </message>
    <message>
        <source>it cannot continue: %1; its state is kept</source>
        <translation>er kann nicht weiterlaufen: %1; sein Zustand bleibt erhalten</translation>
    </message>
    <message>
        <source>it cannot continue: %1; what is left of it is kept</source>
        <translation>er kann nicht weiterlaufen: %1; was davon übrig ist, bleibt erhalten</translation>
    </message>
    <message>
        <source>it waits, because continuing failed; it could try again on %1 as %2</source>
        <translation>er wartet, weil das Fortsetzen misslang; er könnte es auf %1 als %2 erneut versuchen</translation>
    </message>
    <message>
        <source>it continues on %1 as %2, %3</source>
        <translation>er läuft auf %1 als %2 weiter, %3</translation>
    </message>
    <message>
        <source>it waits; it could continue on %1 as %2, %3</source>
        <translation>er wartet; er könnte auf %1 als %2 weiterlaufen, %3</translation>
    </message>
    <message>
        <source>it can continue on %1 as %2, %3, or wait</source>
        <translation>er kann auf %1 als %2 weiterlaufen, %3, oder warten</translation>
    </message>
    <message>
        <source>without losing a step</source>
        <translation>ohne einen Schritt zu verlieren</translation>
    </message>
    <message>
        <source>from the snapshot of step %1, %2 lost</source>
        <translation>vom Snapshot von Schritt %1, %2 verloren</translation>
    </message>
    <message>
        <source>from the checkpoint &apos;%1&apos; of step %2, %3 lost</source>
        <translation>vom Checkpoint „%1“ von Schritt %2, %3 verloren</translation>
    </message>
    <message>
        <source>decided: continue</source>
        <translation>entschieden: fortsetzen</translation>
    </message>
    <message>
        <source>decided: wait</source>
        <translation>entschieden: warten</translation>
    </message>
    <message>
        <source>on failure: ask</source>
        <translation>bei einem Ausfall: fragen</translation>
    </message>
    <message>
        <source>on failure: shrink</source>
        <translation>bei einem Ausfall: verkleinern</translation>
    </message>
    <message>
        <source>on failure: wait</source>
        <translation>bei einem Ausfall: warten</translation>
    </message>
    <message>
        <source>snapshots: %1</source>
        <translation>Snapshots: %1</translation>
    </message>
    <message>
        <source>snapshots are likely to be given up: %1</source>
        <translation>Snapshots werden wohl aufgegeben: %1</translation>
    </message>
    <message>
        <source>a snapshot was given up: %1</source>
        <translation>ein Snapshot wurde aufgegeben: %1</translation>
    </message>
    <message>
        <source>its snapshot is no longer complete</source>
        <translation>sein Snapshot ist nicht mehr vollständig</translation>
    </message>
    <message>
        <source>no view: %1</source>
        <translation>keine Ansicht: %1</translation>
    </message>
    <message>
        <source>reconfigure %1 %2 → %3, %4</source>
        <translation>%1 umstellen: %2 → %3, %4</translation>
    </message>
    <message>
        <source>prepared: all ranks started, groups connected</source>
        <translation>vorbereitet: alle Ranks gestartet, Gruppen verbunden</translation>
    </message>
    <message>
        <source>epoch %1 committed, %2, pause %3</source>
        <translation>Epoche %1 festgeschrieben, %2, Pause %3</translation>
    </message>
    <message>
        <source>epoch %1 committed, pause %2</source>
        <translation>Epoche %1 festgeschrieben, Pause %2</translation>
    </message>
    <message>
        <source>digests equal</source>
        <translation>Digests gleich</translation>
    </message>
    <message>
        <source>replicas differ</source>
        <translation>Replikate sind verschieden</translation>
    </message>
    <message>
        <source>replicas differ: %1</source>
        <translation>Replikate sind verschieden: %1</translation>
    </message>
    <message>
        <source>%1 do not hold the same state</source>
        <translation>%1 halten nicht denselben Zustand</translation>
    </message>
    <message>
        <source>its digests are not known (%1)</source>
        <translation>die Digests sind nicht bekannt (%1)</translation>
    </message>
    <message>
        <source>rolling back: %1</source>
        <translation>wird zurückgerollt: %1</translation>
    </message>
    <message>
        <source>rolled back: %1; the old layout is whole</source>
        <translation>zurückgerollt: %1; das alte Layout ist unversehrt</translation>
    </message>
    <message>
        <source>rolled back: %1; what is left of the state is unchanged</source>
        <translation>zurückgerollt: %1; was vom Zustand übrig ist, ist unverändert</translation>
    </message>
    <message>
        <source>the registrar&apos;s agent restarted: reading the outcome from the register</source>
        <translation>der Agent des Registrars wurde neu gestartet: Der Ausgang wird aus dem Register gelesen</translation>
    </message>
    <message>
        <source>the registrar&apos;s agent restarted</source>
        <translation>der Agent des Registrars wurde neu gestartet</translation>
    </message>
    <message>
        <source>the registrar&apos;s agent restarted while it started</source>
        <translation>der Agent des Registrars wurde beim Starten neu gestartet</translation>
    </message>
    <message>
        <source>the agent restarted</source>
        <translation>der Agent wurde neu gestartet</translation>
    </message>
    <message>
        <source>the agent of %1 restarted</source>
        <translation>der Agent von %1 wurde neu gestartet</translation>
    </message>
    <message>
        <source>a participant gave up waiting</source>
        <translation>ein Teilnehmer hat das Warten aufgegeben</translation>
    </message>
    <message>
        <source>%1 refused: %2</source>
        <translation>%1 hat abgelehnt: %2</translation>
    </message>
    <message>
        <source>%1 paused after step %2, others after step %3</source>
        <translation>%1 hielt nach Schritt %2 an, andere nach Schritt %3</translation>
    </message>
    <message>
        <source>%1 was lost while its GPUs were joining</source>
        <translation>%1 ging verloren, während seine GPUs beitraten</translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation>abgebrochen</translation>
    </message>
    <message>
        <source>cancelled by %1</source>
        <translation>abgebrochen von %1</translation>
    </message>
    <message>
        <source>the decision register cannot be written: %1; this is tried again every second, and ranks wait</source>
        <translation>das Entscheidungsregister ist nicht schreibbar: %1; jede Sekunde wird es erneut versucht, und die Ranks warten</translation>
    </message>
    <message>
        <source>the decision register answers again</source>
        <translation>das Entscheidungsregister antwortet wieder</translation>
    </message>
    <message>
        <source>slot %1 of &apos;%2&apos; holds &apos;%3&apos;, not a decision of this transaction: rolling back</source>
        <translation>Platz %1 von „%2“ enthält „%3“ und keine Entscheidung dieser Änderung: Sie wird zurückgerollt</translation>
    </message>
    <message>
        <source>no limit for transfers</source>
        <translation>keine Grenze für Übertragungen</translation>
    </message>
    <message>
        <source>transfers limited to %1 per node</source>
        <translation>Übertragungen auf %1 pro Knoten begrenzt</translation>
    </message>
    <message>
        <source>hand-in refused: %1</source>
        <translation>Einreichung abgelehnt: %1</translation>
    </message>
    <message>
        <source>%1 takes over the handed-in state of step %2, %3</source>
        <translation>%1 übernimmt den eingereichten Zustand von Schritt %2, %3</translation>
    </message>
    <message>
        <source>%1 takes over the parameters of checkpoint &apos;%2&apos;, %3</source>
        <translation>%1 übernimmt die Parameter von Checkpoint „%2“, %3</translation>
    </message>
    <message>
        <source>%1 takes over the state after step %2 of checkpoint &apos;%3&apos;, %4</source>
        <translation>%1 übernimmt den Zustand nach Schritt %2 von Checkpoint „%3“, %4</translation>
    </message>
    <message>
        <source>%1 begins with the parameters of checkpoint &apos;%2&apos;, %3</source>
        <translation>%1 beginnt mit den Parametern von Checkpoint „%2“, %3</translation>
    </message>
    <message>
        <source>%1 begins with the state after step %2 of checkpoint &apos;%3&apos;, %4</source>
        <translation>%1 beginnt mit dem Zustand nach Schritt %2 von Checkpoint „%3“, %4</translation>
    </message>
    <message>
        <source>%1 loads checkpoint &apos;%2&apos; of step %3</source>
        <translation>%1 lädt Checkpoint „%2“ von Schritt %3</translation>
    </message>
    <message>
        <source>it begins with that state</source>
        <translation>er beginnt mit diesem Zustand</translation>
    </message>
    <message>
        <source>checkpoint of step %1 saved: &apos;%2&apos;, %3</source>
        <translation>Checkpoint von Schritt %1 gespeichert: „%2“, %3</translation>
    </message>
    <message>
        <source>checkpoint of step %1 saved: &apos;%2&apos;, %3 (its program)</source>
        <translation>Checkpoint von Schritt %1 gespeichert: „%2“, %3 (sein Programm)</translation>
    </message>
    <message>
        <source>no checkpoint was saved: %1</source>
        <translation>kein Checkpoint wurde gespeichert: %1</translation>
    </message>
    <message>
        <source>&apos;%1&apos; was removed</source>
        <translation>„%1“ wurde entfernt</translation>
    </message>
    <message>
        <source>an old checkpoint was not removed: %1</source>
        <translation>ein alter Checkpoint wurde nicht entfernt: %1</translation>
    </message>
    <message>
        <source>the schedule for checkpoints of %1 is off</source>
        <translation>der Zeitplan für Checkpoints von %1 ist aus</translation>
    </message>
    <message>
        <source>a checkpoint of %1 is saved in %2 every %3</source>
        <translation>ein Checkpoint von %1 wird in %2 gespeichert, alle %3</translation>
    </message>
    <message>
        <source>a checkpoint of %1 is saved in %2 every %3, and the newest %4 are kept</source>
        <translation>ein Checkpoint von %1 wird in %2 gespeichert, alle %3; die neuesten %4 werden behalten</translation>
    </message>
    <message>
        <source>a simulated cluster: %1, seed %2</source>
        <translation>ein simulierter Cluster: %1, Seed %2</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; is %2</source>
        <translation>Job „%1“ ist %2</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; is suspended: %2</source>
        <translation>Job „%1“ ist ausgesetzt: %2</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; is still starting</source>
        <translation>Job „%1“ startet noch</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; is still starting: %2</source>
        <translation>Job „%1“ startet noch: %2</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; did not start: %2</source>
        <translation>Job „%1“ ist nicht gestartet: %2</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; has changed while the plan was made: try again</source>
        <translation>Job „%1“ hat sich geändert, während der Plan entstand: erneut versuchen</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; already runs %2</source>
        <translation>Job „%1“ läuft schon so: %2</translation>
    </message>
    <message>
        <source>no job &apos;%1&apos;</source>
        <translation>kein Job „%1“</translation>
    </message>
    <message>
        <source>stale plan: %1 is not the plan now, which is %2 of epoch %3</source>
        <translation>veralteter Plan: %1 ist nicht der jetzige Plan; der ist %2 von Epoche %3</translation>
    </message>
    <message>
        <source>--at-step %1 is not ahead: job &apos;%2&apos; is %3 after step %4</source>
        <translation>--at-step %1 liegt nicht voraus: Job „%2“ ist %3, nach Schritt %4</translation>
    </message>
    <message>
        <source>transaction %1 of &apos;%2&apos; is %3: wait for it or cancel it</source>
        <translation>Änderung %1 von „%2“ ist %3: abwarten oder abbrechen</translation>
    </message>
    <message>
        <source>transaction %1 was rolled back: %2</source>
        <translation>Änderung %1 wurde zurückgerollt: %2</translation>
    </message>
    <message>
        <source>the links of the cluster are being measured: wait a few seconds</source>
        <translation>die Leitungen des Clusters werden gemessen: einige Sekunden warten</translation>
    </message>
    <message>
        <source>%1 is %2: a change of job &apos;%3&apos; needs it</source>
        <translation>%1 ist %2: Eine Änderung von Job „%3“ braucht den Knoten</translation>
    </message>
    <message>
        <source>%1 was restarted after it had prepared</source>
        <translation>%1 wurde nach der Vorbereitung neu gestartet</translation>
    </message>
    <message>
        <source>%1 is not connected</source>
        <translation>%1 ist nicht verbunden</translation>
    </message>
    <message>
        <source>%1 did not answer</source>
        <translation>%1 hat nicht geantwortet</translation>
    </message>
    <message>
        <source>no node is alive</source>
        <translation>kein Knoten lebt</translation>
    </message>
    <message>
        <source>device %1 failed</source>
        <translation>GPU %1 ist ausgefallen</translation>
    </message>
    <message>
        <source>device %1 cannot be used: it failed</source>
        <translation>GPU %1 ist nicht nutzbar: Sie ist ausgefallen</translation>
    </message>
    <message>
        <source>device %1 is in job &apos;%2&apos;</source>
        <translation>GPU %1 gehört zu Job „%2“</translation>
    </message>
    <message>
        <source>device %1 does not exist: %2</source>
        <translation>GPU %1 gibt es nicht: %2</translation>
    </message>
    <message>
        <source>device %1 cannot be used yet: %2 has not registered since the registrar&apos;s agent started</source>
        <translation>GPU %1 ist noch nicht nutzbar: %2 hat sich seit dem Start des Agenten des Registrars nicht gemeldet</translation>
    </message>
    <message>
        <source>try again when `tesseractl status` lists it as alive</source>
        <translation>noch einmal versuchen, sobald `tesseractl status` ihn als „alive“ zeigt</translation>
    </message>
    <message>
        <source>device %1 needs %2 during the move, it has %3</source>
        <translation>GPU %1 braucht während der Änderung %2, sie hat %3</translation>
    </message>
    <message>
        <source>mesh %1 has %2 ranks, %3 devices are idle</source>
        <translation>Mesh %1 hat %2 Ranks, frei sind %3 GPUs</translation>
    </message>
    <message>
        <source>no device is idle</source>
        <translation>keine GPU ist frei</translation>
    </message>
    <message>
        <source>no device is left</source>
        <translation>keine GPU ist übrig</translation>
    </message>
    <message>
        <source>no device given: a mesh needs at least 1</source>
        <translation>keine GPU angegeben: Ein Mesh braucht mindestens eine</translation>
    </message>
    <message>
        <source>no mesh of up to %1 devices can run</source>
        <translation>kein Mesh mit bis zu %1 GPUs kann laufen</translation>
    </message>
    <message>
        <source>global batch %1 is smaller than dp = %2</source>
        <translation>der globale Batch %1 ist kleiner als dp = %2</translation>
    </message>
    <message>
        <source>global batch %1 is not divisible by dp = %2</source>
        <translation>der globale Batch %1 ist nicht durch dp = %2 teilbar</translation>
    </message>
    <message>
        <source>micro-batch %1 is larger than a rank&apos;s share of %2 samples</source>
        <translation>der Micro-Batch %1 ist größer als der Anteil eines Ranks von %2 Samples</translation>
    </message>
    <message>
        <source>%1 are not divisible by tp = %2</source>
        <translation>%1 sind nicht durch tp = %2 teilbar</translation>
    </message>
    <message>
        <source>pp = %1 is more stages than the %2 layers of %3</source>
        <translation>pp = %1 sind mehr Stages als die %2 Schichten von %3</translation>
    </message>
    <message>
        <source>%1 needs %2 GPUs, the cluster has %3</source>
        <translation>%1 braucht %2 GPUs, der Cluster hat %3</translation>
    </message>
    <message>
        <source>the plan does not fit in the memory of %1</source>
        <translation>der Plan passt nicht in den Speicher von %1</translation>
    </message>
    <message>
        <source>the transaction cannot be recorded: %1</source>
        <translation>die Änderung kann nicht aufgezeichnet werden: %1</translation>
    </message>
    <message>
        <source>the transaction cannot be journaled: %1</source>
        <translation>die Änderung kann nicht ins Journal geschrieben werden: %1</translation>
    </message>
    <message>
        <source>the end of the last one is not in the journal yet</source>
        <translation>das Ende der letzten steht noch nicht im Journal</translation>
    </message>
    <message>
        <source>database or disk is full</source>
        <translation>Datenbank oder Datenträger ist voll</translation>
    </message>
    <message>
        <source>&apos;%1&apos; needs an operator&apos;s key; key &apos;%2&apos; is a %3&apos;s</source>
        <translation>„%1“ braucht den Schlüssel eines Bedieners; Schlüssel „%2“ gehört einem %3</translation>
    </message>
    <message>
        <source>only operators may ask it, and this key is a viewer&apos;s</source>
        <translation>nur mit einem operator-Schlüssel, und dieser ist ein viewer-Schlüssel</translation>
    </message>
    <message>
        <source>cannot reach %1</source>
        <translation>%1 ist nicht erreichbar</translation>
    </message>
    <message>
        <source>no reply within %1</source>
        <translation>keine Antwort innerhalb von %1</translation>
    </message>
    <message>
        <source>the connection to the cluster is closed</source>
        <translation>die Verbindung zum Cluster ist geschlossen</translation>
    </message>
    <message>
        <source>next is %1, %2 slower</source>
        <translation>als Nächstes %1, %2 langsamer</translation>
    </message>
    <message>
        <source>next is %1, %2 times as fast as now</source>
        <translation>als Nächstes %1, %2-mal so schnell wie jetzt</translation>
    </message>
    <message>
        <source>%1 would be %2 times as fast as now but moves %3</source>
        <translation>%1 wäre %2-mal so schnell wie jetzt, bewegt aber %3</translation>
    </message>
    <message>
        <source>%1 would be %2 times as fast as now but leaves %3 idle</source>
        <translation>%1 wäre %2-mal so schnell wie jetzt, lässt aber %3 frei</translation>
    </message>
    <message>
        <source>next is %1, %2 faster than now</source>
        <translation>als Nächstes %1, %2 schneller als jetzt</translation>
    </message>
    <message>
        <source>%1 would be %2 faster than now but moves %3</source>
        <translation>%1 wäre %2 schneller als jetzt, bewegt aber %3</translation>
    </message>
    <message>
        <source>%1 would be %2 faster than now but leaves %3 idle</source>
        <translation>%1 wäre %2 schneller als jetzt, lässt aber %3 frei</translation>
    </message>
    <message>
        <source>next is %1, as fast as now</source>
        <translation>als Nächstes %1, so schnell wie jetzt</translation>
    </message>
    <message>
        <source>%1 would be as fast as now but moves %2</source>
        <translation>%1 wäre so schnell wie jetzt, bewegt aber %2</translation>
    </message>
    <message>
        <source>%1 would be as fast as now but leaves %2 idle</source>
        <translation>%1 wäre so schnell wie jetzt, lässt aber %2 frei</translation>
    </message>
    <message>
        <source>next is %1, %2 slower than now</source>
        <translation>als Nächstes %1, %2 langsamer als jetzt</translation>
    </message>
    <message>
        <source>%1 would be %2 slower than now but moves %3</source>
        <translation>%1 wäre %2 langsamer als jetzt, bewegt aber %3</translation>
    </message>
    <message>
        <source>%1 would be %2 slower than now but leaves %3 idle</source>
        <translation>%1 wäre %2 langsamer als jetzt, lässt aber %3 frei</translation>
    </message>
    <message>
        <source>%1 is as fast and moves nothing</source>
        <translation>%1 ist so schnell und bewegt nichts</translation>
    </message>
    <message>
        <source>%1 is as fast and moves %2</source>
        <translation>%1 ist so schnell und bewegt %2</translation>
    </message>
    <message>
        <source>%1 would be as fast but moves %2</source>
        <translation>%1 wäre so schnell, bewegt aber %2</translation>
    </message>
    <message>
        <source>%1 would be %2 faster but moves %3</source>
        <translation>%1 wäre %2 schneller, bewegt aber %3</translation>
    </message>
    <message>
        <source>%1 would be %2 faster but leaves %3 idle</source>
        <translation>%1 wäre %2 schneller, lässt aber %3 frei</translation>
    </message>
    <message>
        <source>tp stays at %1, and dp is the largest that divides the batch</source>
        <translation>tp bleibt bei %1, und dp ist der größte Wert, der den Batch teilt</translation>
    </message>
    <message>
        <source>data-parallel degree</source>
        <translation>Grad der Datenparallelität</translation>
    </message>
    <message>
        <source>tensor-parallel degree</source>
        <translation>Grad der Tensorparallelität</translation>
    </message>
    <message>
        <source>pipeline stages</source>
        <translation>Pipeline-Stages</translation>
    </message>
    <message>
        <source>expert-parallel degree</source>
        <translation>Grad der Expertenparallelität</translation>
    </message>
    <message>
        <source>context-parallel degree</source>
        <translation>Grad der Kontextparallelität</translation>
    </message>
    <message>
        <source>tensors of the state</source>
        <translation>Tensoren des Zustands</translation>
    </message>
    <message>
        <source>memory of a GPU</source>
        <translation>Speicher einer GPU</translation>
    </message>
    <message>
        <source>one copy of the state</source>
        <translation>eine Kopie des Zustands</translation>
    </message>
    <message>
        <source>size of the tensor, %1</source>
        <translation>Größe des Tensors %1</translation>
    </message>
    <message>
        <source>shard of the tensor on the GPU, %1</source>
        <translation>Shard des Tensors auf der GPU, %1</translation>
    </message>
    <message>
        <source>live GPUs that hold the rarest shard</source>
        <translation>lebende GPUs mit dem seltensten Shard</translation>
    </message>
    <message>
        <source>live GPUs that hold the rarest shard, %1</source>
        <translation>lebende GPUs mit dem seltensten Shard, %1</translation>
    </message>
    <message>
        <source>state that no live GPU holds</source>
        <translation>Zustand, den keine lebende GPU hält</translation>
    </message>
    <message>
        <source>bytes repacked on their GPU</source>
        <translation>Bytes, die auf ihrer GPU umgepackt werden</translation>
    </message>
    <message>
        <source>bytes between GPUs of a node</source>
        <translation>Bytes zwischen GPUs eines Knotens</translation>
    </message>
    <message>
        <source>bytes over the network without forwarding</source>
        <translation>Bytes über das Netzwerk ohne Weiterleitung</translation>
    </message>
    <message>
        <source>bytes that only one GPU can send</source>
        <translation>Bytes, die nur eine GPU senden kann</translation>
    </message>
    <message>
        <source>port that finishes last</source>
        <translation>Port, der als letzter fertig ist</translation>
    </message>
    <message>
        <source>least time of any plan that sends directly</source>
        <translation>kürzeste Zeit eines Plans, der direkt sendet</translation>
    </message>
    <message>
        <source>least time of any plan</source>
        <translation>kürzeste Zeit irgendeines Plans</translation>
    </message>
    <message>
        <source>distance of the plan from the bound</source>
        <translation>Abstand des Plans von der Schranke</translation>
    </message>
    <message>
        <source>forwarding inside a node</source>
        <translation>Weiterleitung im Knoten</translation>
    </message>
    <message>
        <source>memory during the move, %1</source>
        <translation>Speicher während der Änderung, %1</translation>
    </message>
    <message>
        <source>GPUs of the job</source>
        <translation>GPUs des Jobs</translation>
    </message>
    <message>
        <source>nodes of the job</source>
        <translation>Knoten des Jobs</translation>
    </message>
    <message>
        <source>samples of a step</source>
        <translation>Samples eines Schritts</translation>
    </message>
    <message>
        <source>samples of a micro-batch</source>
        <translation>Samples eines Micro-Batches</translation>
    </message>
    <message>
        <source>micro-batches of a step</source>
        <translation>Micro-Batches eines Schritts</translation>
    </message>
    <message>
        <source>share of a step in which a stage waits</source>
        <translation>Anteil eines Schritts, in dem eine Stage wartet</translation>
    </message>
    <message>
        <source>state that the GPU holds, %1</source>
        <translation>Zustand auf %1</translation>
    </message>
    <message>
        <source>parameters that the GPU holds, %1</source>
        <translation>Parameter auf %1</translation>
    </message>
    <message>
        <source>optimizer state that the GPU holds, %1</source>
        <translation>Optimizer-Zustand auf %1</translation>
    </message>
    <message>
        <source>bytes that move</source>
        <translation>Bytes, die sich bewegen</translation>
    </message>
    <message>
        <source>bytes that stay</source>
        <translation>Bytes, die bleiben</translation>
    </message>
    <message>
        <source>bytes over the network</source>
        <translation>Bytes über das Netzwerk</translation>
    </message>
    <message>
        <source>bytes from a checkpoint</source>
        <translation>Bytes aus einem Checkpoint</translation>
    </message>
    <message>
        <source>bytes that arrive, %1</source>
        <translation>Bytes, die ankommen, %1</translation>
    </message>
    <message>
        <source>bytes that leave, %1</source>
        <translation>Bytes, die hinausgehen, %1</translation>
    </message>
    <message>
        <source>least bytes that must move</source>
        <translation>Bytes, die sich mindestens bewegen müssen</translation>
    </message>
    <message>
        <source>least bytes over the network</source>
        <translation>Bytes, die mindestens über das Netzwerk müssen</translation>
    </message>
    <message>
        <source>bytes through the busiest port</source>
        <translation>Bytes durch den meistbelasteten Port</translation>
    </message>
    <message>
        <source>time of the busiest port</source>
        <translation>Zeit des meistbelasteten Ports</translation>
    </message>
    <message>
        <source>memory during the move</source>
        <translation>Speicher während der Änderung</translation>
    </message>
    <message>
        <source>room in the memory of every GPU</source>
        <translation>Platz im Speicher jeder GPU</translation>
    </message>
    <message>
        <source>estimated pause</source>
        <translation>geschätzte Pause</translation>
    </message>
    <message>
        <source>the rank on %1 has not adopted epoch %2 within %3: it is killed</source>
        <translation>der Rank auf %1 hat Epoche %2 nicht innerhalb von %3 übernommen: Er wird beendet</translation>
    </message>
    <message>
        <source>no cluster is known; %1</source>
        <translation>kein Cluster ist bekannt; %1</translation>
    </message>
    <message>
        <source>%1 profiles are known and none is named local; %2</source>
        <translation>%1 Profile sind bekannt, und keines heißt local; %2</translation>
    </message>
    <message>
        <source>no profile &apos;%1&apos;: no file %2</source>
        <translation>kein Profil „%1“: keine Datei %2</translation>
    </message>
    <message>
        <source>cluster &apos;%1&apos; is not running; %2</source>
        <translation>Cluster „%1“ läuft nicht; %2</translation>
    </message>
    <message>
        <source>key refused by %1</source>
        <translation>Schlüssel abgelehnt von %1</translation>
    </message>
    <message>
        <source>this key has been revoked</source>
        <translation>dieser Schlüssel wurde widerrufen</translation>
    </message>
    <message>
        <source>%1 sends more than %2 requests a second</source>
        <translation>%1 sendet mehr als %2 Anfragen pro Sekunde</translation>
    </message>
    <message>
        <source>%1: others than its owner can read this secret key; %2</source>
        <translation>%1: Nicht nur der Besitzer kann diesen geheimen Schlüssel lesen; %2</translation>
    </message>
    <message>
        <source>%1 runs no programs of users: %2</source>
        <translation>%1 führt keine Programme von Nutzern aus: %2</translation>
    </message>
    <message>
        <source>protocol %1 of %2 is not %3 of %4</source>
        <translation>Protokoll %1 von %2 ist nicht %3 von %4</translation>
    </message>
    <message>
        <source>this is cluster &apos;%1&apos;, but the profile names cluster &apos;%2&apos;</source>
        <translation>dies ist Cluster „%1“, aber das Profil nennt Cluster „%2“</translation>
    </message>
    <message>
        <source>etcd does not answer: %1</source>
        <translation>etcd antwortet nicht: %1</translation>
    </message>
    <message>
        <source>the decision register cannot be written: %1</source>
        <translation>das Entscheidungsregister ist nicht schreibbar: %1</translation>
    </message>
    <message>
        <source>etcd endpoint &apos;%1&apos; is not encrypted: %2</source>
        <translation>der etcd-Endpunkt „%1“ ist nicht verschlüsselt: %2</translation>
    </message>
    <message>
        <source>%1 answers as the registrar: the role moves only from a node that is off</source>
        <translation>%1 antwortet als Registrar: Die Rolle wechselt nur von einem Knoten, der aus ist</translation>
    </message>
    <message>
        <source>the registrar of &apos;%1&apos; cannot move: %2</source>
        <translation>der Registrar von „%1“ kann nicht umziehen: %2</translation>
    </message>
    <message>
        <source>port in use: %1</source>
        <translation>Port belegt: %1</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is no complete checkpoint: it has no %2</source>
        <translation>„%1“ ist kein vollständiger Checkpoint: %2 fehlt</translation>
    </message>
    <message>
        <source>checkpoint &apos;%1&apos; cannot be loaded: %2</source>
        <translation>Checkpoint „%1“ kann nicht geladen werden: %2</translation>
    </message>
    <message>
        <source>checkpoint &apos;%1&apos;: &apos;%2&apos; is not read: tessera.json does not name it</source>
        <translation>Checkpoint „%1“: „%2“ wird nicht gelesen, tessera.json nennt die Datei nicht</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; of checkpoint &apos;%2&apos; is damaged: it has digest %3, its manifest %4</source>
        <translation>Tensor „%1“ von Checkpoint „%2“ ist beschädigt: Er hat den Digest %3, sein Manifest %4</translation>
    </message>
    <message>
        <source>checkpoint &apos;%1&apos; does not fit: tensor &apos;%2&apos; %3</source>
        <translation>Checkpoint „%1“ passt nicht: Tensor „%2“ %3</translation>
    </message>
    <message>
        <source>checkpoint &apos;%1&apos; does not fit: its job had %2 %3, this one has %4; load only its parameters</source>
        <translation>Checkpoint „%1“ passt nicht: Sein Job hatte %2 %3, dieser hat %4; nur seine Parameter laden</translation>
    </message>
    <message>
        <source>%1 does not %2 &apos;%3&apos;: `jobs.%4` in its configuration has %5</source>
        <translation>%1 darf „%3“ nicht nutzen (%2): `jobs.%4` in seiner Konfiguration hat %5</translation>
    </message>
    <message>
        <source>a checkpoint of &apos;%1&apos; is being saved in %2 already</source>
        <translation>ein Checkpoint von „%1“ wird schon in %2 gespeichert</translation>
    </message>
    <message>
        <source>no model &apos;%1&apos;; there are %2</source>
        <translation>kein Modell „%1“; es gibt %2</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; was stopped while its data were opened</source>
        <translation>Job „%1“ wurde beendet, während seine Daten geöffnet wurden</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; did not start: no progress for %2: %3</source>
        <translation>Job „%1“ ist nicht gestartet: kein Fortschritt seit %2: %3</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; did not start: %2 made no progress with its data for %3: %4</source>
        <translation>Job „%1“ ist nicht gestartet: %2 kam mit seinen Daten seit %3 nicht voran: %4</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; did not start: %2 was not ready %3</source>
        <translation>Job „%1“ ist nicht gestartet: %2 war nicht bereit %3</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; did not start within %2</source>
        <translation>Job „%1“ ist nicht innerhalb von %2 gestartet</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; exists and is %2: %3</source>
        <translation>Job „%1“ gibt es schon, er ist %2: %3</translation>
    </message>
    <message>
        <source>stages %1 are for pp = %2, the mesh has pp = %3: %4</source>
        <translation>die Stages %1 gelten für pp = %2, das Mesh hat pp = %3: %4</translation>
    </message>
    <message>
        <source>stages are %1: the built-in trainer %2</source>
        <translation>die Stages sind %1: Der eingebaute Trainer %2</translation>
    </message>
    <message>
        <source>data path &apos;%1&apos; does not exist</source>
        <translation>den Datenpfad „%1“ gibt es nicht</translation>
    </message>
    <message>
        <source>data path &apos;%1&apos; cannot be read: %2</source>
        <translation>der Datenpfad „%1“ ist nicht lesbar: %2</translation>
    </message>
    <message>
        <source>data file &apos;%1&apos; at byte %2: the record is a tf.train.Example %3</source>
        <translation>Datendatei „%1“ bei Byte %2: Der Eintrag ist ein tf.train.Example %3</translation>
    </message>
    <message>
        <source>data file &apos;%1&apos; at byte %2: %3</source>
        <translation>Datendatei „%1“ bei Byte %2: %3</translation>
    </message>
    <message>
        <source>data set has %1 bytes, a sample needs %2</source>
        <translation>der Datensatz hat %1 Bytes, ein Sample braucht %2</translation>
    </message>
    <message>
        <source>token %1 of sample %2 %3 is outside the vocabulary of %4 of %5</source>
        <translation>Token %1 von Sample %2 %3 liegt außerhalb des Vokabulars von %4 von %5</translation>
    </message>
    <message>
        <source>data of job &apos;%1&apos; cannot be read here: %2</source>
        <translation>die Daten von Job „%1“ sind hier nicht lesbar: %2</translation>
    </message>
    <message>
        <source>data of job &apos;%1&apos; are being opened: %2 of %3 bytes are read</source>
        <translation>die Daten von Job „%1“ werden geöffnet: %2 von %3 Bytes sind gelesen</translation>
    </message>
    <message>
        <source>open sample files would take %1 bytes, the limit is %2</source>
        <translation>offene Sample-Dateien brauchten %1 Bytes, die Grenze ist %2</translation>
    </message>
    <message>
        <source>%1 samples have %2 bytes or more, the limit is %3</source>
        <translation>%1 Samples haben %2 Bytes oder mehr, die Grenze ist %3</translation>
    </message>
    <message>
        <source>%1 the server answers 200 instead of 206: it cannot send parts of a file</source>
        <translation>%1 der Server antwortet mit 200 statt 206: Er kann keine Teile einer Datei senden</translation>
    </message>
    <message>
        <source>data folder &apos;%1&apos; has no manifest.txt, which lists its files, one per line</source>
        <translation>der Datenordner „%1“ hat kein manifest.txt, das seine Dateien nennt, eine pro Zeile</translation>
    </message>
    <message>
        <source>data &apos;%1&apos; has %2 weight, those before it have %3: give one to all or to none</source>
        <translation>Daten „%1“ haben %2 Gewicht, die davor haben %3: allen eines geben oder keinen</translation>
    </message>
    <message>
        <source>the weight of data &apos;%1&apos; is not above 0</source>
        <translation>das Gewicht der Daten „%1“ ist nicht größer als 0</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is compressed and cannot be read by range: unpack it</source>
        <translation>„%1“ ist komprimiert und nicht in Teilen lesbar: entpacken</translation>
    </message>
    <message>
        <source>data is read without the cache: %1</source>
        <translation>die Daten werden ohne den Cache gelesen: %1</translation>
    </message>
    <message>
        <source>stale plan: %1</source>
        <translation>veralteter Plan: %1</translation>
    </message>
    <message>
        <source>transaction %1 of &apos;%2&apos; is %3: %4</source>
        <translation>Änderung %1 von „%2“ ist %3: %4</translation>
    </message>
    <message>
        <source>the links of the cluster are being measured: %1</source>
        <translation>die Leitungen des Clusters werden gemessen: %1</translation>
    </message>
    <message>
        <source>transaction %1 is %2: it can no longer be cancelled; %3</source>
        <translation>Änderung %1 ist %2: Sie kann nicht mehr abgebrochen werden; %3</translation>
    </message>
    <message>
        <source>--at-step %1 is not ahead: %2</source>
        <translation>--at-step %1 liegt nicht voraus: %2</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; %2: %3 holds digest %4, %5 holds %6</source>
        <translation>Tensor „%1“ %2: %3 hält den Digest %4, %5 hält %6</translation>
    </message>
    <message>
        <source>%1:%2: unknown key &apos;%3&apos;</source>
        <translation>%1:%2: unbekannter Schlüssel „%3“</translation>
    </message>
    <message>
        <source>%1:%2: not valid JSON</source>
        <translation>%1:%2: kein gültiges JSON</translation>
    </message>
    <message>
        <source>%1: key &apos;%2&apos; is missing</source>
        <translation>%1: Der Schlüssel „%2“ fehlt</translation>
    </message>
    <message>
        <source>no key file %1</source>
        <translation>keine Schlüsseldatei %1</translation>
    </message>
    <message>
        <source>%1 gave no answer within %2</source>
        <translation>%1 hat nicht innerhalb von %2 geantwortet</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is not the arena that its node names</source>
        <translation>„%1“ ist nicht die Arena, die ihr Knoten nennt</translation>
    </message>
    <message>
        <source>a view of &apos;%1&apos; takes %2 bytes, and %3 of the %4 bytes %5</source>
        <translation>eine Ansicht von „%1“ braucht %2 Bytes, und %3 der %4 Bytes %5</translation>
    </message>
    <message>
        <source>a view&apos;s %1 bytes are more than half of the %2 bytes %3</source>
        <translation>die %1 Bytes einer Ansicht sind mehr als die Hälfte der %2 Bytes %3</translation>
    </message>
    <message>
        <source>no view of &apos;%1&apos;: %2</source>
        <translation>keine Ansicht von „%1“: %2</translation>
    </message>
    <message>
        <source>view %1 is no longer held here</source>
        <translation>Ansicht %1 wird hier nicht mehr gehalten</translation>
    </message>
    <message>
        <source>%1: schema version %2, this program knows up to %3</source>
        <translation>%1: Schema-Version %2, dieses Programm kennt nur bis %3</translation>
    </message>
    <message>
        <source>journal row &apos;%1&apos; is damaged: %2</source>
        <translation>Journalzeile „%1“ ist beschädigt: %2</translation>
    </message>
    <message>
        <source>%1 cannot run, because its journal is damaged (%2)</source>
        <translation>%1 kann nicht laufen, weil sein Journal beschädigt ist (%2)</translation>
    </message>
    <message>
        <source>%1 cannot run, because its journal is damaged (%2). No other node has a copy of it: put one of yours back as %3, and the node goes on; or end the node with `kill %4` on its machine, remove the file and start the node again: its part of the jobs then comes from replicas, snapshots or checkpoints</source>
        <translation>%1 kann nicht laufen, weil sein Journal beschädigt ist (%2). Kein anderer Knoten hat eine Kopie davon: Die eigene als %3 zurücklegen, dann macht der Knoten weiter; oder den Knoten auf seiner Maschine mit `kill %4` beenden, die Datei entfernen und den Knoten neu starten: Sein Teil der Jobs kommt dann aus Replikaten, Snapshots oder Checkpoints</translation>
    </message>
    <message>
        <source>%1 failed</source>
        <translation>%1 ist ausgefallen</translation>
    </message>
    <message>
        <source>%1 stays: no other configuration is estimated to be clearly faster</source>
        <translation>%1 bleibt: Keine andere Konfiguration ist geschätzt deutlich schneller</translation>
    </message>
    <message>
        <source>%1 stays: nothing moves</source>
        <translation>%1 bleibt: Nichts bewegt sich</translation>
    </message>
    <message>
        <source>%1 moves nothing, no other configuration of these devices moves less</source>
        <translation>%1 bewegt nichts, keine andere Konfiguration dieser GPUs bewegt weniger</translation>
    </message>
    <message>
        <source>%1 moves %2, no other configuration of these devices moves less</source>
        <translation>%1 bewegt %2, keine andere Konfiguration dieser GPUs bewegt weniger</translation>
    </message>
    <message>
        <source>%1 has the most data-parallel ranks that the layout permits</source>
        <translation>%1 hat die meisten datenparallelen Ranks, die das Layout erlaubt</translation>
    </message>
    <message>
        <source>the speed of a user&apos;s program is not known</source>
        <translation>die Geschwindigkeit eines eigenen Programms ist nicht bekannt</translation>
    </message>
    <message>
        <source>%1 is estimated %2 times as fast as now and moves nothing</source>
        <translation>%1 ist geschätzt %2-mal so schnell wie jetzt und bewegt nichts</translation>
    </message>
    <message>
        <source>%1 is estimated %2 times as fast as now and moves %3</source>
        <translation>%1 ist geschätzt %2-mal so schnell wie jetzt und bewegt %3</translation>
    </message>
    <message>
        <source>%1 is estimated %2 faster than now and moves nothing</source>
        <translation>%1 ist geschätzt %2 schneller als jetzt und bewegt nichts</translation>
    </message>
    <message>
        <source>%1 is estimated %2 faster than now and moves %3</source>
        <translation>%1 ist geschätzt %2 schneller als jetzt und bewegt %3</translation>
    </message>
    <message>
        <source>%1 is estimated as fast as now and moves nothing</source>
        <translation>%1 ist geschätzt so schnell wie jetzt und bewegt nichts</translation>
    </message>
    <message>
        <source>%1 is estimated as fast as now and moves %2</source>
        <translation>%1 ist geschätzt so schnell wie jetzt und bewegt %2</translation>
    </message>
    <message>
        <source>%1 is estimated %2 slower than now, but the fastest that uses these devices and moves nothing</source>
        <translation>%1 ist geschätzt %2 langsamer als jetzt, aber die schnellste mit diesen GPUs, und bewegt nichts</translation>
    </message>
    <message>
        <source>%1 is estimated %2 slower than now, but the fastest that uses these devices and moves %3</source>
        <translation>%1 ist geschätzt %2 langsamer als jetzt, aber die schnellste mit diesen GPUs, und bewegt %3</translation>
    </message>
    <message>
        <source>%1 is estimated the fastest, %2 per step</source>
        <translation>%1 ist geschätzt die schnellste, %2 pro Schritt</translation>
    </message>
    <message>
        <source>%1 stays idle</source>
        <translation>%1 bleibt frei</translation>
    </message>
    <message>
        <source>%1 stay idle</source>
        <translation>%1 bleiben frei</translation>
    </message>
    <message>
        <source>%1 and %2 stay idle</source>
        <translation>%1 und %2 bleiben frei</translation>
    </message>
    <message>
        <source>nothing would change</source>
        <translation>nichts würde sich ändern</translation>
    </message>
    <message>
        <source>GPU %1 is lost</source>
        <translation>GPU %1 ist verloren</translation>
    </message>
    <message>
        <source>the simulated clock has run ahead by %1</source>
        <translation>Die simulierte Uhr ist um %1 vorgelaufen</translation>
    </message>
    <message>
        <source>nothing has arrived for %1</source>
        <translation>seit %1 ist nichts angekommen</translation>
    </message>
    <message>
        <source>requested again, %1 of %2: %3</source>
        <translation>erneut angefordert, %1 von %2: %3</translation>
    </message>
    <message>
        <source>from %1 instead of %2: %3</source>
        <translation>von %1 an Stelle von %2: %3</translation>
    </message>
    <message>
        <source>transaction %1 of &apos;%2&apos;: %3 fetches cells from %4 instead of %5: %6</source>
        <translation>Änderung %1 von „%2“: %3 holt Zellen von %4 an Stelle von %5: %6</translation>
    </message>
    <message>
        <source>was lost</source>
        <translation>ging verloren</translation>
    </message>
    <message>
        <source>came with another size</source>
        <translation>kam in anderer Größe an</translation>
    </message>
    <message>
        <source>came without its digests</source>
        <translation>kam ohne seine Digests an</translation>
    </message>
    <message>
        <source>came with a wrong checksum</source>
        <translation>kam mit falscher Prüfsumme an</translation>
    </message>
    <message>
        <source>came with digest %1, at the source %2</source>
        <translation>kam mit Digest %1 an, an der Quelle %2</translation>
    </message>
    <message>
        <source>source %1 silent for %2</source>
        <translation>Quelle %1 still seit %2</translation>
    </message>
    <message>
        <source>source %1: %2</source>
        <translation>Quelle %1: %2</translation>
    </message>
    <message>
        <source>key refused by %1: this agent&apos;s key is not in the source&apos;s allow-list</source>
        <translation>Schlüssel abgelehnt von %1: Der Schlüssel dieses Agenten ist an der Quelle nicht zugelassen</translation>
    </message>
    <message>
        <source>%1: No such file or directory</source>
        <translation>%1: Datei oder Ordner nicht gefunden</translation>
    </message>
    <message>
        <source>%1: Permission denied</source>
        <translation>%1: keine Berechtigung</translation>
    </message>
    <message>
        <source>No such file or directory</source>
        <translation>Datei oder Ordner nicht gefunden</translation>
    </message>
    <message>
        <source>Permission denied</source>
        <translation>keine Berechtigung</translation>
    </message>
    <message>
        <source>Operation not permitted</source>
        <translation>nicht erlaubt</translation>
    </message>
    <message>
        <source>restore the file: the agent cannot restart without it</source>
        <translation>die Datei wiederherstellen: Der Agent kann ohne sie nicht neu starten</translation>
    </message>
    <message>
        <source>%1 is readable by others</source>
        <translation>%1 ist für andere lesbar</translation>
    </message>
    <message>
        <source>%1, readable by its owner alone</source>
        <translation>%1, nur für den Besitzer lesbar</translation>
    </message>
    <message>
        <source>%1 public keys are admitted</source>
        <translation>%1 öffentliche Schlüssel sind zugelassen</translation>
    </message>
    <message>
        <source>a .pub file contains the lines &apos;public KEY&apos; and &apos;role viewer&apos;, &apos;role operator&apos; or &apos;role node N&apos;</source>
        <translation>eine .pub-Datei enthält die Zeilen „public KEY“ und „role viewer“, „role operator“ oder „role node N“</translation>
    </message>
    <message>
        <source>cannot list %1: %2</source>
        <translation>%1 lässt sich nicht auflisten: %2</translation>
    </message>
    <message>
        <source>%1: no role, so it is a viewer&apos;s; add `role operator` or `role node N`</source>
        <translation>%1: keine Rolle, also die eines Beobachters; `role operator` oder `role node N` hinzufügen</translation>
    </message>
    <message>
        <source>%1: the same key as %2.pub, which decides: %3</source>
        <translation>%1: derselbe Schlüssel wie in %2.pub, und jene gilt: %3</translation>
    </message>
    <message>
        <source>%1: no public key</source>
        <translation>%1: kein öffentlicher Schlüssel</translation>
    </message>
    <message>
        <source>%1: second role</source>
        <translation>%1: eine zweite Rolle</translation>
    </message>
    <message>
        <source>%1: role &apos;%2&apos; is not viewer, operator or node NUMBER</source>
        <translation>%1: Die Rolle „%2“ ist nicht viewer, operator oder node NUMBER</translation>
    </message>
    <message>
        <source>%1: line is none of &apos;public KEY&apos;, &apos;secret KEY&apos; and &apos;role ROLE&apos;</source>
        <translation>%1: Die Zeile ist weder „public KEY“ noch „secret KEY“ noch „role ROLE“</translation>
    </message>
    <message>
        <source>%1: second %2 key</source>
        <translation>%1: ein zweiter Schlüssel (%2)</translation>
    </message>
    <message>
        <source>%1: %2 key of %3 characters is not 40 characters of Z85</source>
        <translation>%1: Der Schlüssel (%2) mit %3 Zeichen hat nicht 40 Zeichen in Z85</translation>
    </message>
    <message>
        <source>programs of operators, data %1, checkpoints %2</source>
        <translation>Programme von Bedienern, Daten %1, Checkpoints %2</translation>
    </message>
    <message>
        <source>no programs of operators, data %1, checkpoints %2</source>
        <translation>keine Programme von Bedienern, Daten %1, Checkpoints %2</translation>
    </message>
    <message>
        <source>anywhere</source>
        <translation>überall</translation>
    </message>
    <message>
        <source>nowhere</source>
        <translation>nirgends</translation>
    </message>
    <message>
        <source>only where the machine has text</source>
        <translation>nur dort, wo der Rechner Text hat</translation>
    </message>
    <message>
        <source>below %1</source>
        <translation>unterhalb von %1</translation>
    </message>
    <message>
        <source>nothing accepts connections at %1</source>
        <translation>nichts nimmt Verbindungen an: %1</translation>
    </message>
    <message>
        <source>free the port, or open it in the firewall; `ss -ltnp` shows which process listens</source>
        <translation>den Port freigeben oder in der Firewall öffnen; `ss -ltnp` zeigt, welcher Prozess lauscht</translation>
    </message>
    <message>
        <source>%1 endpoints accept connections, %2 to %3</source>
        <translation>%1 Endpunkte nehmen Verbindungen an, %2 bis %3</translation>
    </message>
    <message>
        <source>encrypted (CurveZMQ)</source>
        <translation>verschlüsselt (CurveZMQ)</translation>
    </message>
    <message>
        <source>plain: bulk data of this node is not encrypted, requests need a ticket</source>
        <translation>unverschlüsselt: Die Massendaten dieses Knotens sind nicht verschlüsselt, Anfragen brauchen ein Ticket</translation>
    </message>
    <message>
        <source>use plain lanes only on a network that you trust; else set &quot;lane_security&quot; to &quot;curve&quot; in the node&apos;s configuration and restart its agent</source>
        <translation>unverschlüsselte Lanes nur in einem vertrauenswürdigen Netzwerk nutzen; sonst &quot;lane_security&quot; in der Konfiguration des Knotens auf &quot;curve&quot; setzen und seinen Agenten neu starten</translation>
    </message>
    <message>
        <source>%1 of arenas, %2 of memory are free</source>
        <translation>%1 Arenen, %2 Speicher sind frei</translation>
    </message>
    <message>
        <source>use fewer devices or less memory per device: ranks need memory beside the arenas</source>
        <translation>weniger GPUs oder weniger Speicher pro GPU nehmen: Ranks brauchen Speicher neben den Arenen</translation>
    </message>
    <message>
        <source>create the directory and give it to the user of the agent</source>
        <translation>den Ordner anlegen und dem Nutzer des Agenten geben</translation>
    </message>
    <message>
        <source>%1 are free in %2</source>
        <translation>%1 sind frei in %2</translation>
    </message>
    <message>
        <source>free disk space: a transaction that cannot be recorded does not start</source>
        <translation>Platz auf der Festplatte schaffen: Eine Änderung, die nicht aufgezeichnet werden kann, beginnt nicht</translation>
    </message>
    <message>
        <source>not supported by this kernel</source>
        <translation>dieser Kernel unterstützt es nicht</translation>
    </message>
    <message>
        <source>shared memory uses 4 KiB pages: slower start, same training speed</source>
        <translation>gemeinsamer Speicher nutzt Seiten von 4 KiB: langsamerer Start, gleich schnelles Training</translation>
    </message>
    <message>
        <source>shared memory: %1</source>
        <translation>gemeinsamer Speicher: %1</translation>
    </message>
    <message>
        <source>can be opened</source>
        <translation>lässt sich öffnen</translation>
    </message>
    <message>
        <source>modprobe fuse; in a container: --device /dev/fuse</source>
        <translation>modprobe fuse; in einem Container: --device /dev/fuse</translation>
    </message>
    <message>
        <source>to mount, give this user read and write access to /dev/fuse</source>
        <translation>zum Mounten diesem Nutzer Lese- und Schreibrechte an /dev/fuse geben</translation>
    </message>
    <message>
        <source>bbr paces connections: a quarter of the bandwidth on loopback</source>
        <translation>bbr bremst Verbindungen: auf dem Loopback ein Viertel der Bandbreite</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>keine Grenze</translation>
    </message>
    <message>
        <source>limit of %1</source>
        <translation>Grenze von %1</translation>
    </message>
    <message>
        <source>ulimit -n 4096, or LimitNOFILE=4096 in the unit</source>
        <translation>ulimit -n 4096 oder LimitNOFILE=4096 in der Unit</translation>
    </message>
    <message>
        <source>%1, with OPENBLAS_CORETYPE=%2</source>
        <translation>%1, mit OPENBLAS_CORETYPE=%2</translation>
    </message>
    <message>
        <source>%1 is the reference implementation, about 16 times slower</source>
        <translation>%1 ist die Referenzimplementierung, etwa 16-mal langsamer</translation>
    </message>
    <message>
        <source>this system has no alternatives for BLAS</source>
        <translation>dieses System hat keine Alternativen für BLAS</translation>
    </message>
    <message>
        <source>%1 is missing</source>
        <translation>%1 fehlt</translation>
    </message>
    <message>
        <source>install it for built-in models; programs of users (job start --exec) do not need it</source>
        <translation>für eingebaute Modelle installieren; eigene Programme (job start --exec) brauchen ihn nicht</translation>
    </message>
    <message>
        <source>%1 is joining: silent for %2</source>
        <translation>%1 tritt bei: still seit %2</translation>
    </message>
    <message>
        <source>%1 is suspect: silent for %2</source>
        <translation>%1 ist verdächtig: still seit %2</translation>
    </message>
    <message>
        <source>%1 is unmanaged: silent for %2</source>
        <translation>%1 ist unverwaltet: still seit %2</translation>
    </message>
    <message>
        <source>%1 is dead: silent for %2</source>
        <translation>%1 ist tot: still seit %2</translation>
    </message>
    <message>
        <source>%1 is left: silent for %2</source>
        <translation>%1 ist ausgetreten: still seit %2</translation>
    </message>
    <message>
        <source>on %1, check that tessera-agent runs, and read its log</source>
        <translation>auf %1 prüfen, ob tessera-agent läuft, und sein Protokoll lesen</translation>
    </message>
    <message>
        <source>look at `tesseractl logs %1`</source>
        <translation>`tesseractl logs %1` ansehen</translation>
    </message>
    <message>
        <source>paused before the update of step %1; transferring its gradients</source>
        <translation>vor dem Update von Schritt %1 angehalten; seine Gradienten werden übertragen</translation>
    </message>
    <message>
        <source>transaction %1 of &apos;%2&apos;: the state after step %3 is copied in the pause: %4</source>
        <translation>Änderung %1 von „%2“: Der Zustand nach Schritt %3 wird in der Pause kopiert: %4</translation>
    </message>
    <message>
        <source>within %1 of this machine</source>
        <translation>um höchstens %1 anders als auf diesem Rechner</translation>
    </message>
    <message>
        <source>%1 ahead of this machine</source>
        <translation>geht %1 vor, verglichen mit diesem Rechner</translation>
    </message>
    <message>
        <source>%1 behind this machine</source>
        <translation>geht %1 nach, verglichen mit diesem Rechner</translation>
    </message>
    <message>
        <source>timedatectl set-ntp true, on both</source>
        <translation>timedatectl set-ntp true, auf beiden</translation>
    </message>
    <message>
        <source>no cluster is connected</source>
        <translation>kein Cluster ist verbunden</translation>
    </message>
    <message>
        <source>the panel has left that cluster</source>
        <translation>das Panel hat jenen Cluster verlassen</translation>
    </message>
    <message>
        <source>the test was cancelled</source>
        <translation>die Prüfung wurde abgebrochen</translation>
    </message>
    <message>
        <source>the registrar does not report its nodes</source>
        <translation>der Registrar meldet seine Knoten nicht</translation>
    </message>
    <message>
        <source>a profile is already named &apos;%1&apos;</source>
        <translation>ein Profil heißt schon „%1“</translation>
    </message>
    <message>
        <source>that profile could not be read and is gone</source>
        <translation>jenes Profil war nicht lesbar und ist verloren</translation>
    </message>
    <message>
        <source>cluster &apos;%1&apos; runs on this machine: tesseractl down --cluster %2 stops it</source>
        <translation>Cluster „%1“ läuft auf diesem Rechner: tesseractl down --cluster %2 beendet ihn</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is not a cluster of emulated devices</source>
        <translation>„%1“ ist kein Cluster mit emulierten GPUs</translation>
    </message>
    <message>
        <source>another cluster is being started or stopped</source>
        <translation>ein anderer Cluster wird gerade gestartet oder beendet</translation>
    </message>
    <message>
        <source>a history file is shown, not a live cluster</source>
        <translation>gezeigt wird eine Verlaufsdatei, kein laufender Cluster</translation>
    </message>
    <message>
        <source>cannot start tesseractl: %1</source>
        <translation>tesseractl lässt sich nicht starten: %1</translation>
    </message>
    <message>
        <source>tesseractl has ended</source>
        <translation>tesseractl wurde beendet</translation>
    </message>
    <message>
        <source>cannot write %1</source>
        <translation>%1 lässt sich nicht schreiben</translation>
    </message>
    <message>
        <source>cannot write %1: %2</source>
        <translation>%1 lässt sich nicht schreiben: %2</translation>
    </message>
    <message>
        <source>cannot remove %1: %2</source>
        <translation>%1 lässt sich nicht entfernen: %2</translation>
    </message>
    <message>
        <source>%1 is being tuned already</source>
        <translation>%1 wird schon abgestimmt</translation>
    </message>
    <message>
        <source>the mesh has %1 ranks, the limit is %2</source>
        <translation>das Mesh hat %1 Ranks, die Grenze ist %2</translation>
    </message>
    <message>
        <source>the plan reads from snapshots or checkpoints</source>
        <translation>der Plan liest aus Snapshots oder Checkpoints</translation>
    </message>
    <message>
        <source>the plan of the cluster has other flows</source>
        <translation>der Plan des Clusters hat andere Flüsse</translation>
    </message>
    <message>
        <source>line %1: %2</source>
        <translation>Zeile %1: %2</translation>
    </message>
    <message>
        <source>not a settings file of this version</source>
        <translation>keine Einstellungsdatei dieser Version</translation>
    </message>
    <message>
        <source>a section without a closing bracket</source>
        <translation>ein Abschnitt ohne schließende Klammer</translation>
    </message>
    <message>
        <source>neither a section nor an entry</source>
        <translation>weder ein Abschnitt noch ein Eintrag</translation>
    </message>
    <message>
        <source>a backslash that escapes no character</source>
        <translation>ein Rückstrich ohne Zeichen, das er maskiert</translation>
    </message>
    <message>
        <source>not UTF-8 text</source>
        <translation>kein Text in UTF-8</translation>
    </message>
    <message>
        <source>the end is missing: the file is incomplete</source>
        <translation>das Ende fehlt: Die Datei ist unvollständig</translation>
    </message>
    <message>
        <source>larger than 1 MiB</source>
        <translation>größer als 1 MiB</translation>
    </message>
    <message>
        <source>prepared: all ranks started, groups connected; the state after step %1 is copied while the job computes</source>
        <translation>vorbereitet: alle Ranks gestartet, Gruppen verbunden; der Zustand nach Schritt %1 wird kopiert, während der Job rechnet</translation>
    </message>
    <message>
        <source>The job has no ranks that could compute meanwhile.</source>
        <translation>Der Job hat keine Ranks, die währenddessen rechnen könnten.</translation>
    </message>
    <message>
        <source>The job is paused already.</source>
        <translation>Der Job ist bereits angehalten.</translation>
    </message>
    <message>
        <source>&apos;%1&apos; runs a program that does not pause before an update.</source>
        <translation>„%1“ führt ein Programm aus, das nicht vor einem Update anhält.</translation>
    </message>
    <message>
        <source>&apos;%1&apos; forgets something at a change (%2), for teaching.</source>
        <translation>„%1“ vergisst bei einer Änderung etwas (%2), zum Lernen.</translation>
    </message>
    <message>
        <source>%1 would need %2 beside the gradients, it has %3.</source>
        <translation>%1 bräuchte neben den Gradienten %2, hat aber %3.</translation>
    </message>
    <message>
        <source>As requested.</source>
        <translation>Wie gewünscht.</translation>
    </message>
    <message>
        <source>The pause is shorter if only gradients move in it.</source>
        <translation>Die Pause ist kürzer, wenn in ihr nur Gradienten bewegt werden.</translation>
    </message>
    <message>
        <source>Copying while the job computes would not shorten the pause.</source>
        <translation>Kopieren, während der Job rechnet, würde die Pause nicht verkürzen.</translation>
    </message>
    <message>
        <source>no CUDA driver: %1</source>
        <translation>kein CUDA-Treiber: %1</translation>
    </message>
    <message>
        <source>install the driver of the GPUs (libcuda.so.1)</source>
        <translation>den Treiber der GPUs installieren (libcuda.so.1)</translation>
    </message>
    <message>
        <source>%1 (emulated), %2 devices</source>
        <translation>%1 (emuliert), %2 Geräte</translation>
    </message>
    <message>
        <source>%1, %2 devices</source>
        <translation>%1, %2 Geräte</translation>
    </message>
    <message>
        <source>%1, %2 MiB, compute %3, reaches no other device</source>
        <translation>%1, %2 MiB, Compute %3, erreicht kein anderes Gerät</translation>
    </message>
    <message>
        <source>%1, %2 MiB, compute %3, reaches %4</source>
        <translation>%1, %2 MiB, Compute %3, erreicht %4</translation>
    </message>
    <message>
        <source>this program was built without nvcc</source>
        <translation>dieses Programm wurde ohne nvcc gebaut</translation>
    </message>
    <message>
        <source>build it again where packaging/cuda finds an nvcc</source>
        <translation>dort neu bauen, wo packaging/cuda ein nvcc findet</translation>
    </message>
    <message>
        <source>see the messages of the kernel (dmesg) for the device</source>
        <translation>die Meldungen des Kernels (dmesg) zu dem Gerät ansehen</translation>
    </message>
    <message>
        <source>its memory cannot be shared between processes: use another device</source>
        <translation>sein Speicher ist nicht zwischen Prozessen teilbar: ein anderes Gerät benutzen</translation>
    </message>
    <message>
        <source>no NCCL: %1</source>
        <translation>kein NCCL: %1</translation>
    </message>
    <message>
        <source>install libnccl2: programs with PyTorch on several GPUs need it</source>
        <translation>libnccl2 installieren: Programme mit PyTorch auf mehreren GPUs brauchen es</translation>
    </message>
    <message>
        <source>the built-in trainer computes on the CPU, and %1 is a CUDA device: start a program that computes there instead, such as plain.py of the examples with PyTorch</source>
        <translation>der eingebaute Trainer rechnet auf der CPU, und %1 ist ein CUDA-Gerät: stattdessen ein Programm starten, das dort rechnet, etwa plain.py der Beispiele mit PyTorch</translation>
    </message>
    <message>
        <source>device %1 needs %2 during the move, it has %3; it fits with --move-memory %4</source>
        <translation>GPU %1 braucht während der Änderung %2, sie hat %3; mit --move-memory %4 geht es</translation>
    </message>
    <message>
        <source>device %1 needs %2 while tensor &apos;%3&apos; moves, it has %4</source>
        <translation>GPU %1 braucht %2, während sich Tensor „%3“ bewegt, sie hat %4</translation>
    </message>
    <message>
        <source>device %1 needs %2 for the new layout and two piece tables, it has %3</source>
        <translation>GPU %1 braucht %2 für das neue Layout und zwei Tabellen der Shards, sie hat %3</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; needs %2 on device %3 while it moves, --move-memory allows %4</source>
        <translation>Tensor „%1“ braucht %2 auf GPU %3, während er sich bewegt, --move-memory erlaubt %4</translation>
    </message>
    <message>
        <source>the piece table of device %1 needs %2, --move-memory allows %3</source>
        <translation>die Tabelle der Shards von GPU %1 braucht %2, --move-memory erlaubt %3</translation>
    </message>
    <message>
        <source>device %1: no gap of %2 bytes for a piece of tensor &apos;%3&apos; in its round, the largest of the arena&apos;s %4 has %5</source>
        <translation>GPU %1: keine Lücke von %2 Bytes für einen Shard von Tensor „%3“ in seiner Runde, die größte der Arena (%4) hat %5</translation>
    </message>
    <message>
        <source>The state moves in rounds.</source>
        <translation>Der Zustand bewegt sich in Runden.</translation>
    </message>
    <message>
        <source>decided: no rollback from here; moving in %1 rounds</source>
        <translation>entschieden: ab hier kein Weg zurück; Umzug in %1 Runden</translation>
    </message>
    <message>
        <source>transaction %1: round %2: %3; it is tried again</source>
        <translation>Transaktion %1: Runde %2: %3; sie wird noch einmal versucht</translation>
    </message>
    <message>
        <source>failed between two rounds: %1; %2 of %3 rounds have moved the state of &apos;%4&apos;</source>
        <translation>zwischen zwei Runden gescheitert: %1; %2 von %3 Runden haben den Zustand von „%4“ bewegt</translation>
    </message>
    <message>
        <source>%1 has come back without the state that it held</source>
        <translation>%1 ist ohne den Zustand zurückgekehrt, den er hielt</translation>
    </message>
    <message>
        <source>the state is copied after step %1</source>
        <translation>der Zustand wird nach Schritt %1 kopiert</translation>
    </message>
    <message>
        <source>transaction %1 of &apos;%2&apos;: all state moves in the pause: %3</source>
        <translation>Änderung %1 von „%2“: Der ganze Zustand wird in der Pause kopiert: %3</translation>
    </message>
    <message>
        <source>prepared: all ranks started, groups connected; cells between nodes go from GPU to GPU, by NCCL</source>
        <translation>vorbereitet: alle Ranks gestartet, Gruppen verbunden; Zellen gehen zwischen Knoten von GPU zu GPU, mit NCCL</translation>
    </message>
    <message>
        <source>transaction %1 of &apos;%2&apos;: cells between nodes go over lanes, because the devices cannot reach each other: %3</source>
        <translation>Transaktion %1 von „%2“: Zellen gehen zwischen Knoten über Lanes, weil die Geräte einander nicht erreichen: %3</translation>
    </message>
    <message>
        <source>they have not met within %1 s</source>
        <translation>sie haben sich binnen %1 s nicht getroffen</translation>
    </message>
    <message>
        <source>nobody says where they meet</source>
        <translation>niemand sagt, wo sie sich treffen</translation>
    </message>
    <message>
        <source>NCCL: a device has sent nothing for %1 s</source>
        <translation>NCCL: Ein Gerät hat seit %1 s nichts gesendet</translation>
    </message>
    <message>
        <source>NCCL: %1: %2 (%3)</source>
        <translation>NCCL: %1: %2 (%3)</translation>
    </message>
    <message>
        <source>%1 bytes from %2 have the digest %3 on %4, and had %5</source>
        <translation>%1 Bytes von %2 haben auf %4 den Digest %3 und hatten %5</translation>
    </message>
    <message>
        <source>its GPUs have %1, those of n%2 have %3: programs whose ranks are on both may not connect</source>
        <translation>Seine GPUs haben %1, die von n%2 haben %3: Programme mit Ranks auf beiden verbinden sich vielleicht nicht</translation>
    </message>
    <message>
        <source>the node&apos;s file says %1 MiB for each GPU: lower device_bytes</source>
        <translation>die Datei des Knotens sagt %1 MiB für jede GPU: device_bytes verkleinern</translation>
    </message>
    <message>
        <source>%1, %2 MiB, compute %3, reaches no other device, shared by %4 GPUs of this node</source>
        <translation>%1, %2 MiB, Compute %3, erreicht kein anderes Gerät, geteilt von %4 GPUs dieses Knotens</translation>
    </message>
    <message>
        <source>%1, %2 MiB, compute %3, reaches %4, shared by %5 GPUs of this node</source>
        <translation>%1, %2 MiB, Compute %3, erreicht %4, geteilt von %5 GPUs dieses Knotens</translation>
    </message>
    <message>
        <source>the ranks of &apos;%1&apos; do not wait here</source>
        <translation>die Ranks von „%1“ warten hier nicht</translation>
    </message>
    <message>
        <source>transaction %1 of &apos;%2&apos;: all state is copied in one step: %3</source>
        <translation>Änderung %1 von „%2“: Der ganze Zustand wird in einem Schritt kopiert: %3</translation>
    </message>
    <message>
        <source>%1: nodes with GPUs share no memory, so each needs a `host` of its own</source>
        <translation>%1: Knoten mit GPUs teilen keinen Speicher, also braucht jeder einen eigenen `host`</translation>
    </message>
    <message>
        <source>frees what it holds of &apos;%1&apos;, which has ended</source>
        <translation>gibt frei, was er von „%1“ hält; dieser Job ist beendet</translation>
    </message>
    <message>
        <source>nobody says where n%1 is</source>
        <translation>niemand sagt, wo n%1 ist</translation>
    </message>
    <message>
        <source>ended with the cluster that had this name before</source>
        <translation>endete mit dem Cluster, der diesen Namen vorher hatte</translation>
    </message>
    <message>
        <source>cannot be written: %1; events wait in memory</source>
        <translation>kann nicht geschrieben werden: %1; Ereignisse warten im Speicher</translation>
    </message>
    <message>
        <source>%1 earlier events are lost: at most %2 are kept while it cannot be written</source>
        <translation>%1 frühere Ereignisse sind verloren: Solange er nicht geschrieben werden kann, werden höchstens %2 aufgehoben</translation>
    </message>
    <message>
        <source>free disk space: no job can be changed or stopped</source>
        <translation>Platz auf der Festplatte schaffen: Kein Job kann geändert oder beendet werden</translation>
    </message>
    <message>
        <source>everything is recorded</source>
        <translation>alles ist aufgezeichnet</translation>
    </message>
    <message>
        <source>cannot be written: %1</source>
        <translation>kann nicht geschrieben werden: %1</translation>
    </message>
    <message>
        <source>free disk space, or end the program that holds the file</source>
        <translation>Platz auf der Festplatte schaffen, oder das Programm beenden, das die Datei sperrt</translation>
    </message>
    <message>
        <source>%1 is estimated %2 slower than now and moves nothing</source>
        <translation>%1 ist geschätzt %2 langsamer als jetzt und bewegt nichts</translation>
    </message>
    <message>
        <source>%1 is estimated %2 slower than now and moves %3</source>
        <translation>%1 ist geschätzt %2 langsamer als jetzt und bewegt %3</translation>
    </message>
    <message>
        <source>tp and pp stay</source>
        <translation>tp und pp bleiben</translation>
    </message>
    <message>
        <source>%1 keeps tp and pp, and moves nothing</source>
        <translation>%1 behält tp und pp und bewegt nichts</translation>
    </message>
    <message>
        <source>%1 keeps tp and pp, and moves %2</source>
        <translation>%1 behält tp und pp und bewegt %2</translation>
    </message>
    <message>
        <source>all of its rows can be read</source>
        <translation>alle Zeilen sind lesbar</translation>
    </message>
    <message>
        <source>%1 was deleted, and is lost when this agent ends</source>
        <translation>%1 wurde gelöscht und ist verloren, wenn dieser Agent endet</translation>
    </message>
    <message>
        <source>move the jobs of this node away, and start it again</source>
        <translation>Die Jobs dieses Knotens auf andere verschieben und ihn neu starten</translation>
    </message>
    <message>
        <source>change nothing, restart the agent, and run `tesseractl registrar rebuild`</source>
        <translation>Nichts ändern, den Agenten neu starten und `tesseractl registrar rebuild` ausführen</translation>
    </message>
    <message>
        <source>rows that could not be read are kept aside: %1</source>
        <translation>unlesbare Zeilen sind beiseitegelegt: %1</translation>
    </message>
    <message>
        <source>the node runs without them; check the disk of journal.db</source>
        <translation>Der Knoten läuft ohne sie; die Festplatte von journal.db prüfen</translation>
    </message>
    <message>
        <source>No other node has a copy of it: put one of yours back as %1, and the node goes on; or end the node with `kill %2` on its machine, remove the file and start the node again: its part of the jobs then comes from replicas, snapshots or checkpoints</source>
        <translation>Kein anderer Knoten hat eine Kopie davon: Die eigene als %1 zurücklegen, dann macht der Knoten weiter; oder den Knoten auf seiner Maschine mit `kill %2` beenden, die Datei entfernen und den Knoten neu starten: Sein Teil der Jobs kommt dann aus Replikaten, Snapshots oder Checkpoints</translation>
    </message>
    <message>
        <source>it is missing, but %1 holds job &apos;%2&apos;</source>
        <translation>Sie fehlt, doch %1 hält den Job „%2“</translation>
    </message>
    <message>
        <source>it names another keeper, &apos;%1&apos;, but %2 holds job &apos;%3&apos;</source>
        <translation>Sie nennt einen anderen Keeper, „%1“, doch %2 hält den Job „%3“</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is no transaction with its state</source>
        <translation>„%1“ ist keine Transaktion mit ihrem Zustand</translation>
    </message>
    <message>
        <source>it does not begin with a transaction</source>
        <translation>Sie beginnt nicht mit einer Transaktion</translation>
    </message>
    <message>
        <source>it is not the message of transaction %1</source>
        <translation>Sie ist nicht die Nachricht der Transaktion %1</translation>
    </message>
    <message>
        <source>it is no list of rows</source>
        <translation>Sie ist keine Liste von Zeilen</translation>
    </message>
    <message>
        <source>row &apos;%1&apos; of %2 cannot be read and is kept as &apos;%3&apos;: %4</source>
        <translation>Zeile „%1“ von %2 ist unlesbar und als „%3“ beiseitegelegt: %4</translation>
    </message>
    <message>
        <source>its change %1 is rolled back: it was not committed when registrar.db was lost</source>
        <translation>seine Änderung %1 wird zurückgerollt: sie war nicht festgeschrieben, als registrar.db verloren ging</translation>
    </message>
    <message>
        <source>destroyed, because it could not be restored; its nodes held %1</source>
        <translation>zerstört, weil er sich nicht wiederherstellen ließ; seine Knoten hielten %1</translation>
    </message>
    <message>
        <source>%1 was emptied: what this agent writes is lost when it ends</source>
        <translation>%1 wurde geleert: Was dieser Agent schreibt, geht verloren, wenn er endet</translation>
    </message>
    <message>
        <source>%1 was replaced: what this agent writes is lost when it ends</source>
        <translation>%1 wurde ersetzt: Was dieser Agent schreibt, geht verloren, wenn er endet</translation>
    </message>
    <message>
        <source>it explains what all nodes hold</source>
        <translation>sie erklärt, was alle Knoten halten</translation>
    </message>
    <message>
        <source>it does not explain what nodes hold of %1</source>
        <translation>sie erklärt nicht, was Knoten von %1 halten</translation>
    </message>
    <message>
        <source>`tesseractl registrar rebuild` restores the job table from the nodes</source>
        <translation>`tesseractl registrar rebuild` stellt die Job-Tabelle aus den Knoten wieder her</translation>
    </message>
    <message>
        <source>%1 holds job &apos;%2&apos; (epoch %3) that this registrar does not know: %4</source>
        <translation>%1 hält Job „%2“ (Epoche %3), den dieser Registrar nicht kennt: %4</translation>
    </message>
    <message>
        <source>%1 hold job &apos;%2&apos; (epoch %3) that this registrar does not know: %4</source>
        <translation>%1 halten Job „%2“ (Epoche %3), den dieser Registrar nicht kennt: %4</translation>
    </message>
    <message>
        <source>%1 holds job &apos;%2&apos; at epoch %3, but this registrar has another or an older row, of epoch %4: %5</source>
        <translation>%1 hält Job „%2“ bei Epoche %3, aber dieser Registrar hat eine andere oder ältere Zeile, von Epoche %4: %5</translation>
    </message>
    <message>
        <source>%1 hold job &apos;%2&apos; at epoch %3, but this registrar has another or an older row, of epoch %4: %5</source>
        <translation>%1 halten Job „%2“ bei Epoche %3, aber dieser Registrar hat eine andere oder ältere Zeile, von Epoche %4: %5</translation>
    </message>
    <message>
        <source>n%1 holds another job &apos;%2&apos; (epoch %3) than this registrar, so job &apos;%4&apos; cannot use n%5: %6</source>
        <translation>n%1 hält einen anderen Job „%2“ (Epoche %3) als dieser Registrar, also kann Job „%4“ n%5 nicht nutzen: %6</translation>
    </message>
    <message>
        <source>use other nodes; or stop job &apos;%1&apos;, and `tesseractl registrar rebuild` restores the one of n%2</source>
        <translation>andere Knoten nehmen; oder Job „%1“ beenden, dann stellt `tesseractl registrar rebuild` den von n%2 wieder her</translation>
    </message>
    <message>
        <source>the row of job &apos;%1&apos; in registrar.db cannot be read and is kept aside, and no node has reported the job: %2</source>
        <translation>die Zeile von Job „%1“ in registrar.db ist nicht lesbar und wird aufgehoben, und kein Knoten hat den Job gemeldet: %2</translation>
    </message>
    <message>
        <source>start its nodes, and `tesseractl registrar rebuild` restores it; `tesseractl job stop %1` forgets the row</source>
        <translation>seine Knoten starten, dann stellt `tesseractl registrar rebuild` ihn wieder her; `tesseractl job stop %1` vergisst die Zeile</translation>
    </message>
    <message>
        <source>%1 was damaged (%2); it is kept as %3. The nodes still hold their jobs: `tesseractl registrar rebuild` restores the job table</source>
        <translation>%1 war beschädigt (%2); die Datei wird als %3 aufgehoben. Die Knoten halten ihre Jobs noch: `tesseractl registrar rebuild` stellt die Job-Tabelle wieder her</translation>
    </message>
    <message>
        <source>not restored: %1</source>
        <translation>nicht wiederhergestellt: %1</translation>
    </message>
    <message>
        <source>n%1 %2 and is not there: start it, or give it up with `tesseractl node give-up n%3`, and rebuild again</source>
        <translation>n%1 %2 und ist nicht da: ihn starten oder mit `tesseractl node give-up n%3` aufgeben und erneut wiederherstellen</translation>
    </message>
    <message>
        <source>n%1 %2 and has not reported yet: rebuild again when `tesseractl status` lists it as alive or unmanaged</source>
        <translation>n%1 %2 und hat sich noch nicht gemeldet: erneut wiederherstellen, wenn `tesseractl status` ihn als alive oder unmanaged zeigt</translation>
    </message>
    <message>
        <source>n%1 %2 and has not answered: rebuild again</source>
        <translation>n%1 %2 und hat nicht geantwortet: erneut wiederherstellen</translation>
    </message>
    <message>
        <source>holds a part of job &apos;%1&apos;</source>
        <translation>hält einen Teil von Job „%1“</translation>
    </message>
    <message>
        <source>takes part in change %1 of job &apos;%2&apos;</source>
        <translation>nimmt an Änderung %1 von Job „%2“ teil</translation>
    </message>
    <message>
        <source>the nodes that hold job &apos;%1&apos; have not answered</source>
        <translation>die Knoten, die Job „%1“ halten, haben nicht geantwortet</translation>
    </message>
    <message>
        <source>the nodes of job &apos;%1&apos; have promised to follow the decision of change %2, which was in the lost registrar.db: put a copy of the file back</source>
        <translation>die Knoten von Job „%1“ haben zugesagt, der Entscheidung über Änderung %2 zu folgen, und die war im verlorenen registrar.db: eine Kopie der Datei zurücklegen</translation>
    </message>
    <message>
        <source>n%1 takes part in change %2 of job &apos;%3&apos;, and no node that is there holds its row</source>
        <translation>n%1 nimmt an Änderung %2 von Job „%3“ teil, und kein Knoten, der da ist, hält dessen Zeile</translation>
    </message>
    <message>
        <source>its change %1 was committed: rebuild again once its nodes have followed that</source>
        <translation>seine Änderung %1 ist festgeschrieben: erneut wiederherstellen, sobald seine Knoten ihr gefolgt sind</translation>
    </message>
    <message>
        <source>nodes get no further copies of the job table until `tesseractl registrar rebuild`</source>
        <translation>Knoten bekommen keine weiteren Kopien der Job-Tabelle bis `tesseractl registrar rebuild`</translation>
    </message>
    <message>
        <source>the row of %1 in the job table cannot be read, and no node has reported the job</source>
        <translation>die Zeile von %1 in der Job-Tabelle ist nicht lesbar, und kein Knoten hat den Job gemeldet</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; cannot be restored: %2. Its nodes hold %3: `tesseractl job stop %4 --destroy` frees that for good</source>
        <translation>Job „%1“ lässt sich nicht wiederherstellen: %2. Seine Knoten halten %3: `tesseractl job stop %4 --destroy` gibt das endgültig frei</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; is in the job table: stop it without --destroy</source>
        <translation>Job „%1“ ist in der Job-Tabelle: ihn ohne --destroy beenden</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; exists, and what its nodes hold is of another job: stop the job, and rebuild again</source>
        <translation>Job „%1“ existiert, und was seine Knoten halten, ist von einem anderen Job: den Job beenden und erneut wiederherstellen</translation>
    </message>
    <message>
        <source>n%1 takes part in transaction %2, of which this registrar knows nothing: `tesseractl registrar rebuild`</source>
        <translation>n%1 nimmt an Transaktion %2 teil, von der dieser Registrar nichts weiß: `tesseractl registrar rebuild`</translation>
    </message>
    <message>
        <source>its ranks had ended when the job table was rebuilt</source>
        <translation>seine Ranks waren beendet, als die Job-Tabelle wiederhergestellt wurde</translation>
    </message>
    <message>
        <source>node n%1 is %2: only a node that has been silent for %3 s can be given up</source>
        <translation>Knoten n%1 ist %2: Nur ein Knoten, der seit %3 s schweigt, kann aufgegeben werden</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; is %2: there is nothing to decide</source>
        <translation>Job „%1“ ist %2: Es gibt nichts zu entscheiden</translation>
    </message>
    <message>
        <source>n%1 is still ending change %2 of job &apos;%3&apos;: rebuild again</source>
        <translation>n%1 beendet noch Änderung %2 von Job „%3“: erneut wiederherstellen</translation>
    </message>
    <message>
        <source>assumed</source>
        <translation>angenommen</translation>
    </message>
    <message>
        <source>the links of this emulated cluster</source>
        <translation>die Leitungen dieses emulierten Clusters</translation>
    </message>
    <message>
        <source>simulated %1</source>
        <translation>%1, simuliert</translation>
    </message>
    <message>
        <source>measured %1 UTC on %2</source>
        <translation>gemessen %1 UTC auf %2</translation>
    </message>
    <message>
        <source>the network is assumed</source>
        <translation>das Netzwerk ist angenommen</translation>
    </message>
    <message>
        <source>memory is assumed</source>
        <translation>der Speicher ist angenommen</translation>
    </message>
    <message>
        <source>it is being saved, or was cut off</source>
        <translation>er wird gerade gespeichert, oder das Speichern wurde abgebrochen</translation>
    </message>
    <message>
        <source>it could not be examined: %1</source>
        <translation>er ließ sich nicht untersuchen: %1</translation>
    </message>
    <message>
        <source>no step of &apos;%1&apos; for %2</source>
        <translation>kein Schritt von „%1“ seit %2</translation>
    </message>
    <message>
        <source>transaction %1 failed: %2</source>
        <translation>Änderung %1 ist gescheitert: %2</translation>
    </message>
    <message>
        <source>transaction %1 has an unknown outcome: %2</source>
        <translation>Änderung %1 hat einen unbekannten Ausgang: %2</translation>
    </message>
    <message>
        <source>transaction %1 needs a decision: %2</source>
        <translation>Änderung %1 braucht eine Entscheidung: %2</translation>
    </message>
    <message>
        <source>transaction %1 does not run, and its record has no outcome</source>
        <translation>Änderung %1 läuft nicht, und ihr Eintrag hat keinen Ausgang</translation>
    </message>
    <message>
        <source>the cluster begins anew and continues the history of the one before</source>
        <translation>der Cluster beginnt neu und setzt den Verlauf des vorigen fort</translation>
    </message>
    <message>
        <source>the cluster at %1 was stopped</source>
        <translation>der Cluster unter %1 wurde beendet</translation>
    </message>
    <message>
        <source>the cluster at %1 was stopped by %2</source>
        <translation>der Cluster unter %1 wurde von %2 beendet</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; cannot continue from replicas: there is none that can be used</source>
        <translation>Job „%1“ kann nicht mit Replikaten weiterlaufen: Es gibt keine brauchbaren</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; cannot continue from a snapshot: there is none that can be used</source>
        <translation>Job „%1“ kann nicht von einem Snapshot weiterlaufen: Es gibt keinen brauchbaren</translation>
    </message>
    <message>
        <source>job &apos;%1&apos; cannot continue from a checkpoint: there is none that can be used</source>
        <translation>Job „%1“ kann nicht von einem Checkpoint weiterlaufen: Es gibt keinen brauchbaren</translation>
    </message>
    <message>
        <source>has lost GPUs: %1; %2</source>
        <translation>hat GPUs verloren: %1; %2</translation>
    </message>
    <message>
        <source>decided: continue from replicas</source>
        <translation>entschieden: von Replikaten weitermachen</translation>
    </message>
    <message>
        <source>decided: continue from a snapshot</source>
        <translation>entschieden: von einem Snapshot weiter</translation>
    </message>
    <message>
        <source>decided: continue from a checkpoint</source>
        <translation>entschieden: von einem Checkpoint weiter</translation>
    </message>
    <message>
        <source>a joining node was lost: %1</source>
        <translation>ein beitretender Knoten ging verloren: %1</translation>
    </message>
    <message>
        <source>a joining rank was lost: %1</source>
        <translation>ein beitretender Rank ging verloren: %1</translation>
    </message>
    <message>
        <source>something else was chosen meanwhile</source>
        <translation>inzwischen wurde etwas anderes gewählt</translation>
    </message>
    <message>
        <source>%1 no longer holds the state</source>
        <translation>%1 hält den Zustand nicht mehr</translation>
    </message>
</context>
<context>
    <name>tessera::app::AppConnections</name>
    <message>
        <source>%1 of %2 agents started</source>
        <translation>%1 von %2 Agenten gestartet</translation>
    </message>
    <message>
        <source>Writing the agents&apos; configuration</source>
        <translation>Konfiguration der Agenten wird geschrieben</translation>
    </message>
    <message>
        <source>Creating its keys</source>
        <translation>Schlüssel werden erzeugt</translation>
    </message>
    <message>
        <source>%1 nodes of %2 GPUs</source>
        <translation>%1 Knoten mit je %2 GPUs</translation>
    </message>
    <message>
        <source>Others can read the secret: chmod 600</source>
        <translation>Andere können das Geheimnis lesen: chmod 600</translation>
    </message>
</context>
<context>
    <name>tessera::app::ClusterTest</name>
    <message>
        <source>registrar</source>
        <translation>Registrar</translation>
    </message>
    <message>
        <source>no answer within %1</source>
        <translation>keine Antwort innerhalb von %1</translation>
    </message>
    <message>
        <source>Check that %1 is the right address and that no firewall blocks it.</source>
        <translation>Prüfen, ob die Adresse %1 stimmt und keine Firewall sie sperrt.</translation>
    </message>
    <message>
        <source>Choose the key file that was created for this cluster.</source>
        <translation>Die Schlüsseldatei wählen, die für diesen Cluster erzeugt wurde.</translation>
    </message>
    <message>
        <source>%1 in %2</source>
        <translation>%1 in %2</translation>
    </message>
    <message>
        <source>Ask the operator to allow your public key, or choose another key file.</source>
        <translation>Den Betreiber bitten, den öffentlichen Schlüssel zuzulassen, oder eine andere Schlüsseldatei wählen.</translation>
    </message>
    <message>
        <source>Install the same version of Tessera on this machine and on the cluster.</source>
        <translation>Auf diesem Rechner und im Cluster dieselbe Version von Tessera installieren.</translation>
    </message>
    <message>
        <source>The server key of this profile does not match the cluster. Add its profile again.</source>
        <translation>Der Server-Schlüssel dieses Profils passt nicht zum Cluster. Das Profil neu hinzufügen.</translation>
    </message>
    <message>
        <source>Start it: tesseractl up --cluster %1</source>
        <translation>Starten: tesseractl up --cluster %1</translation>
    </message>
    <message>
        <source>Check that the registrar is running, that %1 is the right address, and that no firewall blocks it.</source>
        <translation>Prüfen, ob der Registrar läuft, die Adresse %1 stimmt und keine Firewall sie sperrt.</translation>
    </message>
    <message>
        <source>last seen %1</source>
        <translation>zuletzt gesehen %1</translation>
    </message>
    <message>
        <source>Look at its log: tesseractl logs %1</source>
        <translation>Ins Protokoll sehen: tesseractl logs %1</translation>
    </message>
    <message>
        <source>version %1</source>
        <translation>Version %1</translation>
    </message>
    <message>
        <source>%1, this panel has %2</source>
        <translation>%1, dieses Panel hat %2</translation>
    </message>
    <message>
        <source>Install the same version of Tessera on %1 and here.</source>
        <translation>Auf %1 und hier dieselbe Version von Tessera installieren.</translation>
    </message>
    <message>
        <source>its clock is %1 ahead</source>
        <translation>seine Uhr geht %1 vor</translation>
    </message>
    <message>
        <source>its clock is %1 behind</source>
        <translation>seine Uhr geht %1 nach</translation>
    </message>
    <message>
        <source>Synchronise the clocks: systemctl enable --now systemd-timesyncd</source>
        <translation>Die Uhren synchronisieren: systemctl enable --now systemd-timesyncd</translation>
    </message>
    <message>
        <source>clock within %1</source>
        <translation>Uhrzeit auf %1 genau</translation>
    </message>
</context>
<context>
    <name>tessera::ui::AboutDialog</name>
    <message>
        <source>About Tessera</source>
        <translation>Über Tessera</translation>
    </message>
    <message>
        <source>Tessera</source>
        <translation>Tessera</translation>
    </message>
    <message>
        <source>Moves the state of a running deep-learning job to another mesh of GPUs. Based on the idea of Tenplex (SOSP 2024).</source>
        <translation>Verschiebt den Zustand eines laufenden Deep-Learning-Jobs auf ein anderes Mesh von GPUs. Nach der Idee von Tenplex (SOSP 2024).</translation>
    </message>
    <message>
        <source>version</source>
        <translation>Version</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>Qt</source>
        <translation>Qt</translation>
    </message>
    <message>
        <source>display</source>
        <translation>Anzeige</translation>
    </message>
    <message>
        <source>system</source>
        <translation>System</translation>
    </message>
    <message>
        <source>panel and command line (ui, app)</source>
        <translation>Panel und Kommandozeile (ui, app)</translation>
    </message>
    <message>
        <source>GPL-3.0-or-later</source>
        <translation>GPL-3.0-or-later</translation>
    </message>
    <message>
        <source>planner, engine, agents</source>
        <translation>Planer, Engine, Agenten</translation>
    </message>
    <message>
        <source>Apache-2.0</source>
        <translation>Apache-2.0</translation>
    </message>
    <message>
        <source>LGPL-3.0-only</source>
        <translation>LGPL-3.0-only</translation>
    </message>
    <message>
        <source>QCustomPlot</source>
        <translation>QCustomPlot</translation>
    </message>
    <message>
        <source>ZeroMQ</source>
        <translation>ZeroMQ</translation>
    </message>
    <message>
        <source>LGPL-3.0 with static linking exception</source>
        <translation>LGPL-3.0 mit Ausnahme für statisches Linken</translation>
    </message>
    <message>
        <source>Protocol Buffers</source>
        <translation>Protocol Buffers</translation>
    </message>
    <message>
        <source>BSD-3-Clause</source>
        <translation>BSD-3-Clause</translation>
    </message>
    <message>
        <source>SQLite</source>
        <translation>SQLite</translation>
    </message>
    <message>
        <source>public domain</source>
        <translation>gemeinfrei</translation>
    </message>
    <message>
        <source>libtorch (trainer only)</source>
        <translation>libtorch (nur Trainer)</translation>
    </message>
    <message>
        <source>Licences</source>
        <translation>Lizenzen</translation>
    </message>
    <message>
        <source>Copy versions</source>
        <translation>Versionen kopieren</translation>
    </message>
    <message>
        <source>Copy the versions</source>
        <translation>Die Versionen kopieren</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>tessera::ui::AgentTests</name>
    <message>
        <source>reached</source>
        <translation>erreicht</translation>
    </message>
    <message>
        <source>version mismatch</source>
        <translation>andere Version</translation>
    </message>
    <message>
        <source>key refused</source>
        <translation>Schlüssel abgelehnt</translation>
    </message>
    <message>
        <source>clock skew</source>
        <translation>Uhr falsch</translation>
    </message>
    <message>
        <source>not reached</source>
        <translation>nicht erreicht</translation>
    </message>
    <message>
        <source>reached, with warnings</source>
        <translation>erreicht, mit Warnungen</translation>
    </message>
    <message>
        <source>%1 %2, %3</source>
        <translation>%1 %2, %3</translation>
    </message>
    <message>
        <source>%1 %2, %3. %4</source>
        <translation>%1 %2, %3. %4</translation>
    </message>
</context>
<context>
    <name>tessera::ui::AnswerDialog</name>
    <message>
        <source>command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Copy as command</source>
        <translation>Als Befehl kopieren</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy the answer</source>
        <translation>Die Antwort kopieren</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ApplySheet</name>
    <message>
        <source>Apply even though the change cannot be recorded</source>
        <translation>Anwenden, obwohl die Änderung nicht aufgezeichnet werden kann</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Apply to %1 · %2</source>
        <translation>Anwenden auf %1 · %2</translation>
    </message>
    <message>
        <source>Reconfigure %1: %2 → %3</source>
        <translation>%1 umstellen: %2 → %3</translation>
    </message>
    <message>
        <source>cluster</source>
        <translation>Cluster</translation>
    </message>
    <message>
        <source>job</source>
        <translation>Job</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPUs</translation>
    </message>
    <message>
        <source>%1 → %2</source>
        <translation>%1 → %2</translation>
    </message>
    <message>
        <source>bytes to move</source>
        <translation>zu verschieben</translation>
    </message>
    <message>
        <source>pause (estimate)</source>
        <translation>Pause (geschätzt)</translation>
    </message>
    <message>
        <source>≈ %1</source>
        <translation>≈ %1</translation>
    </message>
    <message>
        <source>peak memory</source>
        <translation>höchste Belegung</translation>
    </message>
    <message>
        <source>%1 on %2</source>
        <translation>%1 auf %2</translation>
    </message>
    <message>
        <source>unused</source>
        <translation>ungenutzt</translation>
    </message>
    <message>
        <source>Move %1, pause ≈ %2</source>
        <translation>%1 verschieben, Pause ≈ %2</translation>
    </message>
    <message>
        <source>Cancel. Nothing moves</source>
        <translation>Abbrechen. Nichts wird verschoben</translation>
    </message>
    <message>
        <source>There is no rollback from the first round on. To apply, type the name of the job: %1</source>
        <translation>Ab der ersten Runde gibt es keinen Weg zurück. Zum Anwenden den Namen des Jobs eingeben: %1</translation>
    </message>
    <message>
        <source>Name of the job</source>
        <translation>Name des Jobs</translation>
    </message>
</context>
<context>
    <name>tessera::ui::BatchStrip</name>
    <message>
        <source>dp %1: positions %2 to %3</source>
        <translation>dp %1: Positionen %2 bis %3</translation>
    </message>
    <message>
        <source>Batches and their ranks</source>
        <translation>Batches und ihre Ranks</translation>
    </message>
    <message>
        <source>dp %1 · %2</source>
        <translation>dp %1 · %2</translation>
    </message>
</context>
<context>
    <name>tessera::ui::CandidateDelegate</name>
    <message>
        <source>now</source>
        <translation>jetzt</translation>
    </message>
</context>
<context>
    <name>tessera::ui::CandidateTableModel</name>
    <message>
        <source>fits</source>
        <translation>passt</translation>
    </message>
    <message>
        <source>fits, but leaves less than 10 %</source>
        <translation>passt, lässt aber weniger als 10 % frei</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>passt nicht</translation>
    </message>
    <message>
        <source>ZeRO</source>
        <translation>ZeRO</translation>
    </message>
    <message>
        <source>mb %1</source>
        <translation>mb %1</translation>
    </message>
    <message>
        <source>≈ step</source>
        <translation>≈ Schritt</translation>
    </message>
    <message>
        <source>Seconds per step, estimated</source>
        <translation>Sekunden pro Schritt, geschätzt</translation>
    </message>
    <message>
        <source>≈ tokens/s</source>
        <translation>≈ Tokens/s</translation>
    </message>
    <message>
        <source>Tokens per second, estimated</source>
        <translation>Tokens pro Sekunde, geschätzt</translation>
    </message>
    <message>
        <source>moves</source>
        <translation>bewegt</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>Bytes that the change would move</source>
        <translation>Bytes, die die Änderung bewegen würde</translation>
    </message>
    <message>
        <source>≈ pause</source>
        <translation>≈ Pause</translation>
    </message>
    <message>
        <source>Pause of the job, estimated</source>
        <translation>Pause des Jobs, geschätzt</translation>
    </message>
    <message>
        <source>peak memory</source>
        <translation>höchste Belegung</translation>
    </message>
    <message>
        <source>Memory of the fullest GPU during the change</source>
        <translation>Speicher der vollsten GPU während der Änderung</translation>
    </message>
    <message>
        <source>fastest</source>
        <translation>am schnellsten</translation>
    </message>
    <message>
        <source>moves least</source>
        <translation>bewegt am wenigsten</translation>
    </message>
    <message>
        <source>all GPUs</source>
        <translation>alle GPUs</translation>
    </message>
    <message>
        <source>current</source>
        <translation>aktuell</translation>
    </message>
    <message>
        <source>recommended</source>
        <translation>empfohlen</translation>
    </message>
    <message>
        <source>step ≈ %1</source>
        <translation>Schritt ≈ %1</translation>
    </message>
    <message>
        <source>≈ %1 tokens/s</source>
        <translation>≈ %1 Tokens/s</translation>
    </message>
    <message>
        <source>moves %1, pause ≈ %2</source>
        <translation>bewegt %1, Pause ≈ %2</translation>
    </message>
    <message>
        <source>peak %1, %2</source>
        <translation>höchstens %1, %2</translation>
    </message>
    <message>
        <source>%1 unused</source>
        <translation>%1 ungenutzt</translation>
    </message>
    <message>
        <source>loss of any node: %1</source>
        <translation>Verlust eines Knotens: %1</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ChangeDetails</name>
    <message>
        <source>when</source>
        <translation>wann</translation>
    </message>
    <message>
        <source>requested by</source>
        <translation>angefordert von</translation>
    </message>
    <message>
        <source>job</source>
        <translation>Job</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPUs</translation>
    </message>
    <message>
        <source>options</source>
        <translation>Optionen</translation>
    </message>
    <message>
        <source>after step</source>
        <translation>nach Schritt</translation>
    </message>
    <message>
        <source>digests</source>
        <translation>Digests</translation>
    </message>
    <message>
        <source>equal, %1</source>
        <translation>gleich, %1</translation>
    </message>
    <message>
        <source>digests of the whole state before and after</source>
        <translation>Digests des gesamten Zustands davor und danach</translation>
    </message>
    <message>
        <source>moved</source>
        <translation>verschoben</translation>
    </message>
    <message>
        <source>planned %1</source>
        <translation>geplant %1</translation>
    </message>
    <message>
        <source>planned to move</source>
        <translation>zu verschieben geplant</translation>
    </message>
    <message>
        <source>least possible</source>
        <translation>kleinstmöglich</translation>
    </message>
    <message>
        <source>pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>pause (estimate)</source>
        <translation>Pause (geschätzt)</translation>
    </message>
    <message>
        <source>Phases</source>
        <translation>Phasen</translation>
    </message>
    <message>
        <source>Planned and actual</source>
        <translation>Geplant und tatsächlich</translation>
    </message>
    <message>
        <source>Flows, largest first</source>
        <translation>Flüsse, größte zuerst</translation>
    </message>
    <message>
        <source>Draft an undo…</source>
        <translation>Rücknahme entwerfen…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Show this moment</source>
        <translation>Moment zeigen</translation>
    </message>
    <message>
        <source>Save report…</source>
        <translation>Bericht speichern…</translation>
    </message>
    <message>
        <source>Save a report of this change</source>
        <translation>Einen Bericht über diese Änderung speichern</translation>
    </message>
    <message>
        <source>Save this change as a page with pictures, a table or JSON</source>
        <translation>Diese Änderung als Seite mit Bildern, als Tabelle oder als JSON speichern</translation>
    </message>
    <message>
        <source>Draft an undo of this change</source>
        <translation>Eine Rücknahme dieser Änderung entwerfen</translation>
    </message>
    <message>
        <source>Draft the layout from before this change. Nothing moves until you apply it</source>
        <translation>Das Layout von vor dieser Änderung entwerfen. Nichts bewegt sich, bevor es angewendet wird</translation>
    </message>
    <message>
        <source>Close the details</source>
        <translation>Die Details schließen</translation>
    </message>
    <message>
        <source>Return to the selection in the mesh</source>
        <translation>Zur Auswahl im Mesh zurückkehren</translation>
    </message>
    <message>
        <source>Show the GPUs and the job as they were when this change began</source>
        <translation>GPUs und Job so zeigen, wie sie zu Beginn dieser Änderung waren</translation>
    </message>
    <message>
        <source>Details of the change</source>
        <translation>Details der Änderung</translation>
    </message>
    <message>
        <source>Change %1</source>
        <translation>Änderung %1</translation>
    </message>
    <message>
        <source>Phases: not recorded</source>
        <translation>Phasen: nicht aufgezeichnet</translation>
    </message>
    <message>
        <source>Phases: %1 in all</source>
        <translation>Phasen: %1 insgesamt</translation>
    </message>
    <message>
        <source>stay</source>
        <translation>bleiben</translation>
    </message>
    <message>
        <source>in node</source>
        <translation>im Knoten</translation>
    </message>
    <message>
        <source>network</source>
        <translation>Netzwerk</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>moved because the state was copied while the job trained; planned %1</source>
        <translation>bewegt, weil der Zustand kopiert wurde, während der Job trainierte; geplant %1</translation>
    </message>
    <message>
        <source>gap between steps</source>
        <translation>Lücke zwischen Schritten</translation>
    </message>
    <message>
        <source>by how much the step after the change came later than a step takes: the pause, and the time in which ranks build their program again</source>
        <translation>um so viel kam der Schritt nach der Änderung später, als ein Schritt dauert: die Pause und die Zeit, in der Ranks ihr Programm neu aufbauen</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ChangeDiff</name>
    <message>
        <source>change</source>
        <translation>Änderung</translation>
    </message>
    <message>
        <source>job</source>
        <translation>Job</translation>
    </message>
    <message>
        <source>day</source>
        <translation>Tag</translation>
    </message>
    <message>
        <source>when</source>
        <translation>wann</translation>
    </message>
    <message>
        <source>result</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>epoch</source>
        <translation>Epoche</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPUs</translation>
    </message>
    <message>
        <source>options</source>
        <translation>Optionen</translation>
    </message>
    <message>
        <source>moved</source>
        <translation>verschoben</translation>
    </message>
    <message>
        <source>least possible</source>
        <translation>kleinstmöglich</translation>
    </message>
    <message>
        <source>pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>loss before</source>
        <translation>Loss davor</translation>
    </message>
    <message>
        <source>loss after</source>
        <translation>Loss danach</translation>
    </message>
    <message>
        <source>tokens/s before</source>
        <translation>Tokens/s davor</translation>
    </message>
    <message>
        <source>tokens/s after</source>
        <translation>Tokens/s danach</translation>
    </message>
    <message>
        <source>+%1: %2</source>
        <comment>devices that joined</comment>
        <translation>+%1: %2</translation>
    </message>
    <message>
        <source>−%1: %2</source>
        <comment>devices that left</comment>
        <translation>−%1: %2</translation>
    </message>
    <message>
        <source>another shard on %1: %2</source>
        <translation>anderer Shard auf %1: %2</translation>
    </message>
    <message>
        <source>The same GPUs, at the same places in pp, ep and tp.</source>
        <translation>Dieselben GPUs an denselben Plätzen in pp, ep und tp.</translation>
    </message>
    <message>
        <source>gap between steps</source>
        <translation>Lücke zwischen Schritten</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ChangeView</name>
    <message>
        <source>running</source>
        <translation>läuft</translation>
    </message>
    <message>
        <source>committed</source>
        <translation>wirksam</translation>
    </message>
    <message>
        <source>rolled back</source>
        <translation>zurückgerollt</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>gescheitert</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>ZeRO on</source>
        <translation>ZeRO ein</translation>
    </message>
    <message>
        <source>ZeRO off</source>
        <translation>ZeRO aus</translation>
    </message>
    <message>
        <source>micro-batch %1</source>
        <translation>Micro-Batch %1</translation>
    </message>
    <message>
        <source>equal</source>
        <translation>gleich</translation>
    </message>
    <message>
        <source>different</source>
        <translation>verschieden</translation>
    </message>
    <message>
        <source>%1, checkpoint loaded</source>
        <translation>%1, Checkpoint geladen</translation>
    </message>
    <message>
        <source>%1, state handed in</source>
        <translation>%1, Zustand übergeben</translation>
    </message>
    <message>
        <source>%1, begun from a checkpoint</source>
        <translation>%1, von einem Checkpoint begonnen</translation>
    </message>
    <message>
        <source>%1, other GPUs</source>
        <translation>%1, andere GPUs</translation>
    </message>
    <message>
        <source>Only a committed change can be undone.</source>
        <translation>Nur eine festgeschriebene Änderung lässt sich zurücknehmen.</translation>
    </message>
    <message>
        <source>The job has left these GPUs because some of them were lost.</source>
        <translation>Der Job hat diese GPUs verlassen, weil einige verloren gingen.</translation>
    </message>
    <message>
        <source>The state before this change is gone. A checkpoint brings it back.</source>
        <translation>Der Zustand vor dieser Änderung ist fort. Ein Checkpoint bringt ihn zurück.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::CheckTableModel</name>
    <message>
        <source>ok</source>
        <translation>ok</translation>
    </message>
    <message>
        <source>warning</source>
        <translation>Warnung</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <source>skipped</source>
        <translation>übersprungen</translation>
    </message>
    <message>
        <source>Severity</source>
        <translation>Schwere</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>Wo</translation>
    </message>
    <message>
        <source>here</source>
        <translation>hier</translation>
    </message>
    <message>
        <source>Finding</source>
        <translation>Befund</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>Wert</translation>
    </message>
    <message>
        <source>Remedy</source>
        <translation>Abhilfe</translation>
    </message>
</context>
<context>
    <name>tessera::ui::CheckpointDialog</name>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>…</source>
        <translation>…</translation>
    </message>
    <message>
        <source>Choose the folder</source>
        <translation>Den Ordner wählen</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Checkpoint of %1</source>
        <translation>Checkpoint von %1</translation>
    </message>
    <message>
        <source>The checkpoint takes %1 in the folder, and as much host memory while it is written.</source>
        <translation>Der Checkpoint belegt %1 im Ordner und ebenso viel Speicher der Hosts, während er geschrieben wird.</translation>
    </message>
    <message>
        <source>a folder that all hosts see under this path</source>
        <translation>ein Ordner, den alle Hosts unter diesem Pfad sehen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Choose a folder.</source>
        <translation>Einen Ordner wählen.</translation>
    </message>
    <message>
        <source>Enter the full path, starting with /.</source>
        <translation>Den vollen Pfad eingeben, beginnend mit /.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ClusterMenu</name>
    <message>
        <source>The cluster has saved no checkpoint. Cluster ▸ Save a Checkpoint saves one.</source>
        <translation>Der Cluster hat keinen Checkpoint gespeichert. Cluster ▸ Checkpoint speichern speichert einen.</translation>
    </message>
    <message>
        <source>Job</source>
        <translation>Job</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>Saved</source>
        <translation>Gespeichert</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Mesh</source>
        <translation>Mesh</translation>
    </message>
    <message>
        <source>Digest</source>
        <translation>Digest</translation>
    </message>
    <message>
        <source>Path</source>
        <translation>Pfad</translation>
    </message>
    <message>
        <source>1 checkpoint, %1.</source>
        <translation>1 Checkpoint, %1.</translation>
    </message>
    <message>
        <source>%1 checkpoints, %2.</source>
        <translation>%1 Checkpoints, %2.</translation>
    </message>
    <message>
        <source>There is no job to load it into.</source>
        <translation>Es gibt keinen Job, in den er geladen werden könnte.</translation>
    </message>
    <message>
        <source>Load a checkpoint into %1</source>
        <translation>Checkpoint in %1 laden</translation>
    </message>
    <message>
        <source>The parameters and the optimizer state of %1 are replaced by those of step %2. What the job has done since is lost.</source>
        <translation>Parameter und Optimizer-Zustand von %1 werden durch die von Schritt %2 ersetzt. Was der Job seitdem getan hat, geht verloren.</translation>
    </message>
    <message>
        <source>Load step %1</source>
        <translation>Schritt %1 laden</translation>
    </message>
    <message>
        <source>Keep the state</source>
        <translation>Zustand behalten</translation>
    </message>
    <message>
        <source>The checkpoint was not loaded: %1.</source>
        <translation>Der Checkpoint wurde nicht geladen: %1.</translation>
    </message>
    <message>
        <source>Delete a checkpoint</source>
        <translation>Checkpoint löschen</translation>
    </message>
    <message>
        <source>Deleting this checkpoint frees %1. It cannot be restored.</source>
        <translation>Diesen Checkpoint zu löschen gibt %1 frei. Er lässt sich nicht wiederherstellen.</translation>
    </message>
    <message>
        <source>Delete %1</source>
        <translation>%1 löschen</translation>
    </message>
    <message>
        <source>Keep it</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <source>The checkpoint was not deleted: %1.</source>
        <translation>Der Checkpoint wurde nicht gelöscht: %1.</translation>
    </message>
    <message>
        <source>List the checkpoints of the cluster, load or delete one</source>
        <translation>Die Checkpoints des Clusters auflisten, einen laden oder löschen</translation>
    </message>
    <message>
        <source>Checkpoints of %1</source>
        <translation>Checkpoints von %1</translation>
    </message>
    <message>
        <source>Comparing their files…</source>
        <translation>Dateien werden verglichen…</translation>
    </message>
    <message>
        <source>The checkpoints could not be listed: %1.</source>
        <translation>Die Checkpoints konnten nicht aufgelistet werden: %1.</translation>
    </message>
    <message>
        <source>Read again</source>
        <translation>Neu lesen</translation>
    </message>
    <message>
        <source>Load…</source>
        <translation>Laden…</translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation>Löschen…</translation>
    </message>
    <message>
        <source>Node:</source>
        <translation>Knoten:</translation>
    </message>
    <message>
        <source>Nothing was done: %1.</source>
        <translation>Nichts wurde getan: %1.</translation>
    </message>
    <message>
        <source>%1 at step %2, epoch %3, timeline %4. Every mesh has this digest for the same state.</source>
        <translation>%1 bei Schritt %2, Epoche %3, Timeline %4. Jedes Mesh hat für denselben Zustand diesen Digest.</translation>
    </message>
    <message>
        <source>Tensor</source>
        <translation>Tensor</translation>
    </message>
    <message>
        <source>Compute the digest of the state. A running job pauses for it after its current step</source>
        <translation>Den Digest des Zustands berechnen. Ein laufender Job pausiert dafür nach dem aktuellen Schritt</translation>
    </message>
    <message>
        <source>Digest of %1</source>
        <translation>Digest von %1</translation>
    </message>
    <message>
        <source>Waiting for the end of the step…</source>
        <translation>Warten auf das Ende des Schritts…</translation>
    </message>
    <message>
        <source>The digest could not be computed: %1.</source>
        <translation>Der Digest konnte nicht berechnet werden: %1.</translation>
    </message>
    <message>
        <source>Compute again</source>
        <translation>Neu berechnen</translation>
    </message>
    <message>
        <source>&amp;Doctor…</source>
        <translation>&amp;Diagnose…</translation>
    </message>
    <message>
        <source>Show the problems that the nodes found, with remedies</source>
        <translation>Die Probleme zeigen, die die Knoten gefunden haben, mit Abhilfe</translation>
    </message>
    <message>
        <source>This is a history file, not a live cluster.</source>
        <translation>Dies ist eine Verlaufsdatei, kein laufender Cluster.</translation>
    </message>
    <message>
        <source>There is no connection to the cluster.</source>
        <translation>Es gibt keine Verbindung zum Cluster.</translation>
    </message>
    <message>
        <source>There are no keys in %1. Make a pair here.</source>
        <translation>In %1 gibt es keine Schlüssel. Hier lässt sich ein Paar erzeugen.</translation>
    </message>
    <message>
        <source>Keys in %1. A secret key stays on this machine; the .pub file goes into the folder of accepted keys of every node.</source>
        <translation>Schlüssel in %1. Ein geheimer Schlüssel bleibt auf diesem Rechner; die .pub-Datei gehört in den Ordner der zugelassenen Schlüssel jedes Knotens.</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>Rolle</translation>
    </message>
    <message>
        <source>Public key</source>
        <translation>Öffentlicher Schlüssel</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Anmerkung</translation>
    </message>
    <message>
        <source>pair</source>
        <translation>Paar</translation>
    </message>
    <message>
        <source>public</source>
        <translation>öffentlich</translation>
    </message>
    <message>
        <source>Folder of accepted keys of a node</source>
        <translation>Ordner der zugelassenen Schlüssel eines Knotens</translation>
    </message>
    <message>
        <source>Revoke key %1</source>
        <translation>Schlüssel %1 widerrufen</translation>
    </message>
    <message>
        <source>The node refuses %1 within 2 s, also on connections that are open. Repeat this on every node, or copy the folder.</source>
        <translation>Der Knoten weist %1 innerhalb von 2 s ab, auch auf offenen Verbindungen. Auf jedem Knoten wiederholen oder den Ordner kopieren.</translation>
    </message>
    <message>
        <source>Revoke %1</source>
        <translation>%1 widerrufen</translation>
    </message>
    <message>
        <source>Removed %1.</source>
        <translation>%1 entfernt.</translation>
    </message>
    <message>
        <source>The key was not revoked: %1.</source>
        <translation>Der Schlüssel wurde nicht widerrufen: %1.</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Reading the key files…</source>
        <translation>Schlüsseldateien werden gelesen…</translation>
    </message>
    <message>
        <source>The keys could not be listed: %1.</source>
        <translation>Die Schlüssel konnten nicht aufgelistet werden: %1.</translation>
    </message>
    <message>
        <source>name, such as lecture</source>
        <translation>Name, etwa vorlesung</translation>
    </message>
    <message>
        <source>Name of the new key</source>
        <translation>Name des neuen Schlüssels</translation>
    </message>
    <message>
        <source>Role of the new key</source>
        <translation>Rolle des neuen Schlüssels</translation>
    </message>
    <message>
        <source>viewer: sees</source>
        <translation>viewer: sieht zu</translation>
    </message>
    <message>
        <source>operator: acts, and reads the state of jobs</source>
        <translation>operator: handelt und liest den Zustand von Jobs</translation>
    </message>
    <message>
        <source>New key</source>
        <translation>Neuer Schlüssel</translation>
    </message>
    <message>
        <source>Made %1.</source>
        <translation>%1 erzeugt.</translation>
    </message>
    <message>
        <source>No key was made: %1.</source>
        <translation>Kein Schlüssel wurde erzeugt: %1.</translation>
    </message>
    <message>
        <source>Revoke…</source>
        <translation>Widerrufen…</translation>
    </message>
    <message>
        <source>List this user&apos;s keys by role, make a pair, revoke one</source>
        <translation>Die eigenen Schlüssel nach Rolle auflisten, ein Paar erzeugen, einen widerrufen</translation>
    </message>
    <message>
        <source>This panel has no profiles.</source>
        <translation>Dieses Panel hat keine Profile.</translation>
    </message>
    <message>
        <source>Plans assume %1 inside a host and %2 between hosts: %3.</source>
        <translation>Pläne nehmen %1 innerhalb eines Hosts und %2 zwischen Hosts an: %3.</translation>
    </message>
    <message>
        <source>No link of this cluster was measured yet.</source>
        <translation>Noch wurde keine Leitung dieses Clusters gemessen.</translation>
    </message>
    <message>
        <source>Measured at %1 in %2.</source>
        <translation>Um %1 in %2 gemessen.</translation>
    </message>
    <message>
        <source>Link</source>
        <translation>Leitung</translation>
    </message>
    <message>
        <source>Median</source>
        <translation>Median</translation>
    </message>
    <message>
        <source>Slowest</source>
        <translation>Langsamste</translation>
    </message>
    <message>
        <source>Fastest</source>
        <translation>Schnellste</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Läufe</translation>
    </message>
    <message>
        <source>Lanes</source>
        <translation>Lanes</translation>
    </message>
    <message>
        <source>memory of %1</source>
        <translation>Speicher von %1</translation>
    </message>
    <message>
        <source>Show the bandwidths of the links, and measure them again</source>
        <translation>Die Bandbreiten der Leitungen zeigen und neu messen</translation>
    </message>
    <message>
        <source>Links of %1</source>
        <translation>Leitungen von %1</translation>
    </message>
    <message>
        <source>Measuring takes up to 10 s per host. Jobs continue…</source>
        <translation>Die Messung dauert bis zu 10 s pro Host. Jobs laufen weiter…</translation>
    </message>
    <message>
        <source>The links could not be measured: %1.</source>
        <translation>Die Leitungen konnten nicht gemessen werden: %1.</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>Messen</translation>
    </message>
    <message>
        <source>Lo&amp;gs…</source>
        <translation>Pr&amp;otokolle…</translation>
    </message>
    <message>
        <source>Show the log of a node&apos;s agent, or what a rank of the job has printed</source>
        <translation>Das Protokoll eines Agenten zeigen oder was ein Rank des Jobs ausgegeben hat</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Let a GPU fail</source>
        <translation>GPU ausfallen lassen</translation>
    </message>
    <message>
        <source>What the GPU holds is lost. GPU:</source>
        <translation>Was die GPU hält, geht verloren. GPU:</translation>
    </message>
    <message>
        <source>%1 has failed.</source>
        <translation>%1 ist ausgefallen.</translation>
    </message>
    <message>
        <source>&amp;Give Up a Node…</source>
        <translation>Knoten &amp;aufgeben…</translation>
    </message>
    <message>
        <source>Say that a silent node is lost, so that its jobs can go on</source>
        <translation>Einen verstummten Knoten für verloren erklären, damit seine Jobs weiterlaufen können</translation>
    </message>
    <message>
        <source>Give up a node</source>
        <translation>Knoten aufgeben</translation>
    </message>
    <message>
        <source>What %1 holds counts as lost. Its jobs continue from replicas or a snapshot, or wait. Do this only if you know that the node is gone.</source>
        <translation>Was %1 hält, gilt als verloren. Seine Jobs laufen mit Replikaten oder einem Snapshot weiter oder warten. Nur tun, wenn der Knoten sicher verloren ist.</translation>
    </message>
    <message>
        <source>%1 is given up.</source>
        <translation>%1 ist aufgegeben.</translation>
    </message>
    <message>
        <source>&amp;Kill a Node…</source>
        <translation>Knoten hart &amp;beenden…</translation>
    </message>
    <message>
        <source>Kill a node of an emulated cluster with everything on it</source>
        <translation>Einen Knoten eines emulierten Clusters mit allem darauf beenden</translation>
    </message>
    <message>
        <source>Kill a node</source>
        <translation>Knoten hart beenden</translation>
    </message>
    <message>
        <source>All processes of %1 end, and the state on it is lost.</source>
        <translation>Alle Prozesse von %1 enden, und der Zustand darauf geht verloren.</translation>
    </message>
    <message>
        <source>%1 is killed.</source>
        <translation>%1 ist beendet.</translation>
    </message>
    <message>
        <source>&amp;Start a Node…</source>
        <translation>Knoten &amp;starten…</translation>
    </message>
    <message>
        <source>Start a killed node of an emulated cluster again, with empty GPUs</source>
        <translation>Einen beendeten Knoten eines emulierten Clusters mit leeren GPUs neu starten</translation>
    </message>
    <message>
        <source>Start a node</source>
        <translation>Knoten starten</translation>
    </message>
    <message>
        <source>%1 is back, its GPUs are empty.</source>
        <translation>%1 ist zurück, seine GPUs sind leer.</translation>
    </message>
    <message>
        <source>Let a GPU &amp;Fail…</source>
        <translation>GPU aus&amp;fallen lassen…</translation>
    </message>
    <message>
        <source>Let a GPU of an emulated cluster fail, to see what happens</source>
        <translation>Eine GPU eines emulierten Clusters ausfallen lassen, um zu sehen, was geschieht</translation>
    </message>
    <message>
        <source>&amp;Ask</source>
        <translation>&amp;Fragen</translation>
    </message>
    <message>
        <source>Ask, and continue after a countdown if no step is lost by that</source>
        <translation>Fragen und nach einem Countdown fortfahren, wenn dadurch kein Schritt verloren geht</translation>
    </message>
    <message>
        <source>&amp;Continue with What Is Left</source>
        <translation>&amp;Mit dem Rest fortfahren</translation>
    </message>
    <message>
        <source>Continue at once with the GPUs that are left, spare ones first</source>
        <translation>Sofort mit den übrigen GPUs fortfahren, freie zuerst</translation>
    </message>
    <message>
        <source>&amp;Wait for the GPUs</source>
        <translation>Auf die GPUs &amp;warten</translation>
    </message>
    <message>
        <source>Wait until the lost GPUs are back</source>
        <translation>Warten, bis die verlorenen GPUs zurück sind</translation>
    </message>
    <message>
        <source>&amp;Operate</source>
        <translation>&amp;Bedienen</translation>
    </message>
    <message>
        <source>Allow this panel to change the cluster until it locks again</source>
        <translation>Diesem Panel erlauben, den Cluster zu ändern, bis es sich wieder sperrt</translation>
    </message>
    <message>
        <source>&amp;Live Moves</source>
        <translation>Live-&amp;Änderungen</translation>
    </message>
    <message>
        <source>A drop starts a change after a countdown. Esc stops it</source>
        <translation>Ablegen startet nach einem Countdown eine Änderung. Esc hält ihn an</translation>
    </message>
    <message>
        <source>&amp;Pause the Job</source>
        <translation>Job anhal&amp;ten</translation>
    </message>
    <message>
        <source>Pause the job after its current step. Its state stays in memory</source>
        <translation>Den Job nach dem aktuellen Schritt anhalten. Sein Zustand bleibt im Speicher</translation>
    </message>
    <message>
        <source>The job is not running.</source>
        <translation>Der Job läuft nicht.</translation>
    </message>
    <message>
        <source>&amp;Resume the Job</source>
        <translation>Job fo&amp;rtsetzen</translation>
    </message>
    <message>
        <source>Resume the paused or suspended job</source>
        <translation>Den angehaltenen oder ausgesetzten Job fortsetzen</translation>
    </message>
    <message>
        <source>The job is neither paused nor suspended.</source>
        <translation>Der Job ist weder angehalten noch ausgesetzt.</translation>
    </message>
    <message>
        <source>Measured at %1 on %2, %3 cores. Estimates of step and pause times use these.</source>
        <translation>Gemessen um %1 auf %2, %3 Kerne. Schätzungen von Schritt- und Pausenzeiten beruhen darauf.</translation>
    </message>
    <message>
        <source>What</source>
        <translation>Was</translation>
    </message>
    <message>
        <source>Small messages</source>
        <translation>Kleine Nachrichten</translation>
    </message>
    <message>
        <source>1 MiB</source>
        <translation>1 MiB</translation>
    </message>
    <message>
        <source>all-reduce inside a host, 2 ranks</source>
        <translation>All-Reduce im Host, 2 Ranks</translation>
    </message>
    <message>
        <source>all-reduce inside a host, 4 ranks</source>
        <translation>All-Reduce im Host, 4 Ranks</translation>
    </message>
    <message>
        <source>all-reduce between hosts, 2 ranks</source>
        <translation>All-Reduce zwischen Hosts, 2 Ranks</translation>
    </message>
    <message>
        <source>all-reduce between hosts, 4 ranks</source>
        <translation>All-Reduce zwischen Hosts, 4 Ranks</translation>
    </message>
    <message>
        <source>gather between hosts, 4 ranks</source>
        <translation>Gather zwischen Hosts, 4 Ranks</translation>
    </message>
    <message>
        <source>message between stages, inside a host</source>
        <translation>Nachricht zwischen Stages, im Host</translation>
    </message>
    <message>
        <source>message between stages, between hosts</source>
        <translation>Nachricht zwischen Stages, zwischen Hosts</translation>
    </message>
    <message>
        <source>matrix products of one core</source>
        <translation>Matrixprodukte eines Kerns</translation>
    </message>
    <message>
        <source>%1 GFLOP/s</source>
        <translation>%1 GFLOP/s</translation>
    </message>
    <message>
        <source>Show how fast the cluster computes and communicates, and measure it again</source>
        <translation>Zeigen, wie schnell der Cluster rechnet und kommuniziert, und neu messen</translation>
    </message>
    <message>
        <source>Speed of %1</source>
        <translation>Geschwindigkeit von %1</translation>
    </message>
    <message>
        <source>Measuring uses all cores of every node for some seconds. Running jobs become slower…</source>
        <translation>Die Messung nutzt für einige Sekunden alle Kerne jedes Knotens. Laufende Jobs werden langsamer…</translation>
    </message>
    <message>
        <source>There is no measurement: %1.</source>
        <translation>Es gibt keine Messung: %1.</translation>
    </message>
    <message>
        <source>Re&amp;connect Now</source>
        <translation>Jetzt &amp;neu verbinden</translation>
    </message>
    <message>
        <source>Try to connect again immediately</source>
        <translation>Sofort erneut eine Verbindung versuchen</translation>
    </message>
    <message>
        <source>No cluster is selected.</source>
        <translation>Kein Cluster ist gewählt.</translation>
    </message>
    <message>
        <source>The panel is already connected.</source>
        <translation>Das Panel ist schon verbunden.</translation>
    </message>
    <message>
        <source>%1 coordinates the cluster, at %2. Changes are decided in %3.</source>
        <translation>%1 koordiniert den Cluster, unter %2. Über Änderungen entscheidet %3.</translation>
    </message>
    <message>
        <source>etcd</source>
        <translation>etcd</translation>
    </message>
    <message>
        <source>a file of this node</source>
        <translation>eine Datei dieses Knotens</translation>
    </message>
    <message>
        <source>The registrar has moved %1 times.</source>
        <translation>Umzüge des Registrars: %1.</translation>
    </message>
    <message>
        <source>Nothing can be decided now: %1. Changes wait; nothing is lost.</source>
        <translation>Gerade kann nichts entschieden werden: %1. Änderungen warten; nichts geht verloren.</translation>
    </message>
    <message>
        <source>Register</source>
        <translation>Register</translation>
    </message>
    <message>
        <source>Version</source>
        <translation>Version</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Answered in</source>
        <translation>Antwort in</translation>
    </message>
    <message>
        <source>leads</source>
        <translation>führt</translation>
    </message>
    <message>
        <source>answers</source>
        <translation>antwortet</translation>
    </message>
    <message>
        <source>Show where the cluster is coordinated and changes are decided</source>
        <translation>Zeigen, wo der Cluster koordiniert und über Änderungen entschieden wird</translation>
    </message>
    <message>
        <source>Registrar of %1</source>
        <translation>Registrar von %1</translation>
    </message>
    <message>
        <source>Asking the registrar…</source>
        <translation>Der Registrar wird gefragt…</translation>
    </message>
    <message>
        <source>The registrar did not answer: %1.</source>
        <translation>Der Registrar hat nicht geantwortet: %1.</translation>
    </message>
    <message>
        <source>Ask again</source>
        <translation>Neu fragen</translation>
    </message>
    <message>
        <source>Sa&amp;ve a Checkpoint…</source>
        <translation>Checkpoint s&amp;peichern…</translation>
    </message>
    <message>
        <source>Save the state in a folder that all hosts see, while the job trains</source>
        <translation>Den Zustand in einem Ordner speichern, den alle Hosts sehen, während der Job trainiert</translation>
    </message>
    <message>
        <source>There is no job.</source>
        <translation>Es gibt keinen Job.</translation>
    </message>
    <message>
        <source>A checkpoint is being saved.</source>
        <translation>Ein Checkpoint wird gerade gespeichert.</translation>
    </message>
    <message>
        <source>This cluster is not simulated.</source>
        <translation>Dieser Cluster ist nicht simuliert.</translation>
    </message>
    <message>
        <source>&amp;Stop the Time</source>
        <translation>Zeit &amp;anhalten</translation>
    </message>
    <message>
        <source>Speed: %1 ×</source>
        <translation>Tempo: %1 ×</translation>
    </message>
    <message>
        <source>No simulated time passes until you choose a speed</source>
        <translation>Es vergeht keine simulierte Zeit, bis ein Tempo gewählt wird</translation>
    </message>
    <message>
        <source>Let %1 simulated seconds pass in a second</source>
        <translation>%1 simulierte Sekunden pro Sekunde vergehen lassen</translation>
    </message>
    <message>
        <source>The simulated clock is stopped.</source>
        <translation>Die simulierte Zeit steht still.</translation>
    </message>
    <message>
        <source>%1 simulated seconds pass in a second.</source>
        <translation>%1 simulierte Sekunden vergehen pro Sekunde.</translation>
    </message>
    <message>
        <source>Make a &amp;GPU Slow…</source>
        <translation>GPU &amp;verlangsamen…</translation>
    </message>
    <message>
        <source>Let a GPU compute three times as long</source>
        <translation>Eine GPU dreimal so lange rechnen lassen</translation>
    </message>
    <message>
        <source>Make a GPU slow</source>
        <translation>GPU verlangsamen</translation>
    </message>
    <message>
        <source>It computes three times as long. GPU:</source>
        <translation>Sie rechnet dreimal so lange. GPU:</translation>
    </message>
    <message>
        <source>%1 computes three times as long.</source>
        <translation>%1 rechnet dreimal so lange.</translation>
    </message>
    <message>
        <source>Make a GPU &amp;Fast Again…</source>
        <translation>GPU &amp;wieder beschleunigen…</translation>
    </message>
    <message>
        <source>Let a slow GPU compute as its hardware does</source>
        <translation>Eine langsame GPU wieder so schnell rechnen lassen wie ihre Hardware</translation>
    </message>
    <message>
        <source>Make a GPU fast again</source>
        <translation>GPU wieder beschleunigen</translation>
    </message>
    <message>
        <source>GPU:</source>
        <translation>GPU:</translation>
    </message>
    <message>
        <source>%1 computes as its hardware does.</source>
        <translation>%1 rechnet so schnell wie ihre Hardware.</translation>
    </message>
    <message>
        <source>Make a &amp;Port Slow…</source>
        <translation>&amp;Port verlangsamen…</translation>
    </message>
    <message>
        <source>Give the network port of a node a tenth of its speed</source>
        <translation>Den Netzwerk-Port eines Knotens auf ein Zehntel verlangsamen</translation>
    </message>
    <message>
        <source>Make a port slow</source>
        <translation>Port verlangsamen</translation>
    </message>
    <message>
        <source>The port of %1 has a tenth of its speed. Plans do not know that.</source>
        <translation>Der Port von %1 hat ein Zehntel seiner Geschwindigkeit. Pläne wissen das nicht.</translation>
    </message>
    <message>
        <source>Give the network port of a node the speed of its hardware</source>
        <translation>Dem Netzwerk-Port eines Knotens die Geschwindigkeit seiner Hardware geben</translation>
    </message>
    <message>
        <source>Make a port fast again</source>
        <translation>Port wieder beschleunigen</translation>
    </message>
    <message>
        <source>The port of %1 is as fast as its hardware.</source>
        <translation>Der Port von %1 ist so schnell wie seine Hardware.</translation>
    </message>
    <message>
        <source>&amp;Cut a Node Off…</source>
        <translation>Knoten ab&amp;trennen…</translation>
    </message>
    <message>
        <source>Let nothing reach the agent of a node for 20 s. Its ranks train on</source>
        <translation>20 s lang nichts zum Agenten eines Knotens durchlassen. Seine Ranks trainieren weiter</translation>
    </message>
    <message>
        <source>Cut a node off</source>
        <translation>Knoten abtrennen</translation>
    </message>
    <message>
        <source>%1 is cut off for 20 s.</source>
        <translation>%1 ist für 20 s abgetrennt.</translation>
    </message>
    <message>
        <source>&amp;Restart an Agent…</source>
        <translation>Agenten &amp;neu starten…</translation>
    </message>
    <message>
        <source>Kill the agent of a node. Its keeper starts the next one</source>
        <translation>Den Agenten eines Knotens beenden. Sein Wächter startet den nächsten</translation>
    </message>
    <message>
        <source>Restart an agent</source>
        <translation>Agenten neu starten</translation>
    </message>
    <message>
        <source>The agent of %1 restarts. Its ranks train on.</source>
        <translation>Der Agent von %1 startet neu. Seine Ranks trainieren weiter.</translation>
    </message>
    <message>
        <source>&amp;Add a Node</source>
        <translation>&amp;Knoten hinzufügen</translation>
    </message>
    <message>
        <source>Let a node join the simulated cluster</source>
        <translation>Einen Knoten dem simulierten Cluster beitreten lassen</translation>
    </message>
    <message>
        <source>A node joins the cluster.</source>
        <translation>Ein Knoten tritt dem Cluster bei.</translation>
    </message>
    <message>
        <source>Snapshots of %1</source>
        <translation>Snapshots von %1</translation>
    </message>
    <message>
        <source>A number of steps, or a time such as 30s, 5m or 1h. Each takes %1 of host memory, and the next one as much again while it is taken.</source>
        <translation>Eine Zahl von Schritten oder eine Zeit wie 30s, 5m oder 1h. Jeder belegt %1 Host-Speicher, der nächste noch einmal so viel, während er entsteht.</translation>
    </message>
    <message>
        <source>Set the interval</source>
        <translation>Abstand festlegen</translation>
    </message>
    <message>
        <source>The interval was not set: %1.</source>
        <translation>Der Abstand wurde nicht festgelegt: %1.</translation>
    </message>
    <message>
        <source>Copy the state into the memory of two hosts while the job trains. It takes twice the state, and as much again while the next copy is made</source>
        <translation>Den Zustand in den Speicher zweier Hosts kopieren, während der Job trainiert. Das braucht das Doppelte des Zustands und noch einmal so viel, während die nächste Kopie entsteht</translation>
    </message>
    <message>
        <source>N&amp;o Snapshots</source>
        <translation>K&amp;eine Snapshots</translation>
    </message>
    <message>
        <source>Snapshot Every 1&amp;0 Steps</source>
        <translation>Snapshot alle 1&amp;0 Schritte</translation>
    </message>
    <message>
        <source>Snapshot Every &amp;100 Steps</source>
        <translation>Snapshot alle &amp;100 Schritte</translation>
    </message>
    <message>
        <source>Snapshot Every &amp;Minute</source>
        <translation>Snapshot jede &amp;Minute</translation>
    </message>
    <message>
        <source>Snapshot Every 10 M&amp;inutes</source>
        <translation>Snapshot alle 10 M&amp;inuten</translation>
    </message>
    <message>
        <source>Take no further copies, and free the newest one</source>
        <translation>Keine weiteren Kopien machen und die neueste freigeben</translation>
    </message>
    <message>
        <source>S&amp;napshots</source>
        <translation>Snap&amp;shots</translation>
    </message>
    <message>
        <source>Snapshot Every…</source>
        <translation>Snapshot alle…</translation>
    </message>
    <message>
        <source>Start a &amp;Job…</source>
        <translation>&amp;Job starten…</translation>
    </message>
    <message>
        <source>Choose a model, its data and its GPUs, and start it</source>
        <translation>Modell, Daten und GPUs wählen und den Job starten</translation>
    </message>
    <message>
        <source>No checkpoint of this job was saved: all %1 steps are lost.</source>
        <translation>Kein Checkpoint dieses Jobs wurde gespeichert: Alle %1 Schritte gehen verloren.</translation>
    </message>
    <message>
        <source>Its newest checkpoint, of step %1, stays: %2</source>
        <translation>Sein neuester Checkpoint, von Schritt %1, bleibt: %2</translation>
    </message>
    <message>
        <source>Stop %1</source>
        <translation>%1 beenden</translation>
    </message>
    <message>
        <source>Stopping %1 frees %2 on %3. Its state in memory is lost, snapshots too.</source>
        <translation>%1 zu beenden gibt %2 auf %3 frei. Sein Zustand im Speicher geht verloren, auch Snapshots.</translation>
    </message>
    <message>
        <source>To keep the state, pause the job or save a checkpoint.</source>
        <translation>Um den Zustand zu behalten, den Job anhalten oder einen Checkpoint speichern.</translation>
    </message>
    <message>
        <source>Keep running</source>
        <translation>Weiterlaufen lassen</translation>
    </message>
    <message>
        <source>&amp;Stop the Job…</source>
        <translation>Job b&amp;eenden…</translation>
    </message>
    <message>
        <source>Stop the job and free its state, after confirmation</source>
        <translation>Nach Bestätigung den Job beenden und seinen Zustand freigeben</translation>
    </message>
    <message>
        <source>The job has ended.</source>
        <translation>Der Job ist beendet.</translation>
    </message>
    <message>
        <source>Nothing was stopped: another job than %1 is shown now.</source>
        <translation>Nichts wurde beendet: Jetzt wird ein anderer Job als %1 gezeigt.</translation>
    </message>
    <message>
        <source>Stop cluster %1</source>
        <translation>Cluster %1 beenden</translation>
    </message>
    <message>
        <source>All processes of %1 end. It runs no job.</source>
        <translation>Alle Prozesse von %1 enden. Er führt keinen Job aus.</translation>
    </message>
    <message>
        <source>All processes of %1 end, and with them %2. Their state, %3, is lost.</source>
        <translation>Alle Prozesse von %1 enden, und mit ihnen %2. Ihr Zustand, %3, geht verloren.</translation>
    </message>
    <message>
        <source>History, logs and checkpoints stay on the disk.</source>
        <translation>Verlauf, Protokolle und Checkpoints bleiben auf der Festplatte.</translation>
    </message>
    <message>
        <source>End all processes of a cluster that was started on this machine</source>
        <translation>Alle Prozesse eines Clusters beenden, der auf diesem Rechner gestartet wurde</translation>
    </message>
    <message>
        <source>%1 was not started on this machine.</source>
        <translation>%1 wurde nicht auf diesem Rechner gestartet.</translation>
    </message>
    <message>
        <source>Stopping %1…</source>
        <translation>%1 wird beendet…</translation>
    </message>
    <message>
        <source>%1 is down.</source>
        <translation>%1 ist beendet.</translation>
    </message>
    <message>
        <source>%1 was not stopped: %2.</source>
        <translation>%1 wurde nicht beendet: %2.</translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation>Konfiguration</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPUs</translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation>Vorhergesagt</translation>
    </message>
    <message>
        <source>Measured</source>
        <translation>Gemessen</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>Stopped. %1 runs %2.</source>
        <translation>Angehalten. %1 läuft mit %2.</translation>
    </message>
    <message>
        <source>%1 runs %2.</source>
        <translation>%1 läuft mit %2.</translation>
    </message>
    <message>
        <source>configurations: </source>
        <translation>Konfigurationen: </translation>
    </message>
    <message>
        <source>Number of configurations to try</source>
        <translation>Zahl der Konfigurationen, die probiert werden</translation>
    </message>
    <message>
        <source>steps each: </source>
        <translation>Schritte je: </translation>
    </message>
    <message>
        <source>Steps to run each; the first 2 do not count</source>
        <translation>Schritte, die jede läuft; die ersten 2 zählen nicht</translation>
    </message>
    <message>
        <source>Tune %1</source>
        <translation>%1 abstimmen</translation>
    </message>
    <message>
        <source>Planning the configurations…</source>
        <translation>Konfigurationen werden geplant…</translation>
    </message>
    <message>
        <source>The job was not tuned: %1.</source>
        <translation>Der Job wurde nicht abgestimmt: %1.</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>Each configuration is an ordinary change: training continues and no step is lost. At the end the job keeps the fastest one.</source>
        <translation>Jede Konfiguration ist eine gewöhnliche Änderung: Das Training läuft weiter, und kein Schritt geht verloren. Am Ende behält der Job die schnellste.</translation>
    </message>
    <message>
        <source>Stop and go back</source>
        <translation>Anhalten und zurück</translation>
    </message>
    <message>
        <source>&amp;Tune the Job…</source>
        <translation>Job abst&amp;immen…</translation>
    </message>
    <message>
        <source>Run the configurations with the best estimates and keep the fastest</source>
        <translation>Die Konfigurationen mit den besten Schätzungen laufen lassen und die schnellste behalten</translation>
    </message>
    <message>
        <source>Chec&amp;kpoints…</source>
        <translation>C&amp;heckpoints…</translation>
    </message>
    <message>
        <source>Digest No&amp;w…</source>
        <translation>Di&amp;gest berechnen…</translation>
    </message>
    <message>
        <source>Ke&amp;ys…</source>
        <translation>S&amp;chlüssel…</translation>
    </message>
    <message>
        <source>Pro&amp;be Links…</source>
        <translation>Leitungen &amp;messen…</translation>
    </message>
    <message>
        <source>Nod&amp;es and GPUs</source>
        <translation>&amp;Knoten und GPUs</translation>
    </message>
    <message>
        <source>&amp;If GPUs Are Lost</source>
        <translation>Bei &amp;Verlust von GPUs</translation>
    </message>
    <message>
        <source>&amp;Measure Speed…</source>
        <translation>Gesch&amp;windigkeit messen…</translation>
    </message>
    <message>
        <source>Registr&amp;ar…</source>
        <translation>Registr&amp;ar…</translation>
    </message>
    <message>
        <source>Sim&amp;ulation</source>
        <translation>Sim&amp;ulation</translation>
    </message>
    <message>
        <source>Make a Port Fast Agai&amp;n…</source>
        <translation>Port wieder &amp;beschleunigen…</translation>
    </message>
    <message>
        <source>Stop t&amp;he Local Cluster…</source>
        <translation>&amp;Lokalen Cluster beenden…</translation>
    </message>
    <message>
        <source>Disconnect</source>
        <translation>Verbindung trennen</translation>
    </message>
    <message>
        <source>Close the connection. Cluster and jobs continue</source>
        <translation>Die Verbindung schließen. Cluster und Jobs laufen weiter</translation>
    </message>
    <message>
        <source>The state of jobs in a simulated cluster has no bytes to show.</source>
        <translation>Der Zustand von Jobs in einem simulierten Cluster hat keine Bytes zum Zeigen.</translation>
    </message>
    <message>
        <source>%1 is mounted already, at %2.</source>
        <translation>%1 ist schon eingehängt, unter %2.</translation>
    </message>
    <message>
        <source>The files are mounted at %1.</source>
        <translation>Die Dateien sind unter %1 eingehängt.</translation>
    </message>
    <message>
        <source>The files were not mounted: %1.</source>
        <translation>Die Dateien wurden nicht eingehängt: %1.</translation>
    </message>
    <message>
        <source>%1 is not mounted on this machine.</source>
        <translation>%1 ist auf diesem Rechner nicht eingehängt.</translation>
    </message>
    <message>
        <source>%1 is no longer mounted.</source>
        <translation>%1 ist nicht mehr eingehängt.</translation>
    </message>
    <message>
        <source>The mount was not ended: %1.</source>
        <translation>Das Einhängen wurde nicht beendet: %1.</translation>
    </message>
    <message>
        <source>Jobs as &amp;Files</source>
        <translation>Job&amp;zustand als Dateien</translation>
    </message>
    <message>
        <source>&amp;Mount…</source>
        <translation>&amp;Einhängen…</translation>
    </message>
    <message>
        <source>Show the state of all jobs as files on this machine</source>
        <translation>Den Zustand aller Jobs als Dateien auf diesem Rechner zeigen</translation>
    </message>
    <message>
        <source>&amp;Unmount</source>
        <translation>&amp;Aushängen</translation>
    </message>
    <message>
        <source>Remove the files of the jobs from this machine</source>
        <translation>Die Dateien der Jobs von diesem Rechner entfernen</translation>
    </message>
    <message>
        <source>%1 is being tuned.</source>
        <translation>%1 wird abgestimmt.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ClusterTreeModel</name>
    <message>
        <source>failed</source>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <source>joins</source>
        <translation>tritt bei</translation>
    </message>
    <message>
        <source>leaves</source>
        <translation>geht</translation>
    </message>
    <message>
        <source>sending</source>
        <translation>sendet</translation>
    </message>
    <message>
        <source>joining</source>
        <translation>tritt bei</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>idle</source>
        <translation>frei</translation>
    </message>
    <message>
        <source>+%1</source>
        <translation>+%1</translation>
    </message>
    <message>
        <source>%1 idle</source>
        <translation>%1 frei</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>rank %1, slow</source>
        <translation>Rank %1, langsam</translation>
    </message>
    <message>
        <source>%1, rank %2</source>
        <translation>%1, Rank %2</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ColourBar</name>
    <message>
        <source>colour by</source>
        <translation>Farben nach</translation>
    </message>
    <message>
        <source>Meaning of the colours</source>
        <translation>Bedeutung der Farben</translation>
    </message>
    <message>
        <source>Meaning of the colours in all views</source>
        <translation>Bedeutung der Farben in allen Ansichten</translation>
    </message>
    <message>
        <source>group by</source>
        <translation>Rahmen nach</translation>
    </message>
    <message>
        <source>Content of the frames</source>
        <translation>Inhalt der Rahmen</translation>
    </message>
    <message>
        <source>What a frame of the mesh contains</source>
        <translation>Was ein Rahmen des Meshs enthält</translation>
    </message>
    <message>
        <source>No node of this cluster names its rack.</source>
        <translation>Kein Knoten dieses Clusters nennt sein Rack.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::CommandContext</name>
    <message>
        <source>This is a history file, not a live cluster.</source>
        <translation>Dies ist eine Verlaufsdatei, kein laufender Cluster.</translation>
    </message>
    <message>
        <source>There is no connection to the cluster.</source>
        <translation>Es gibt keine Verbindung zum Cluster.</translation>
    </message>
    <message>
        <source>There is no job.</source>
        <translation>Es gibt keinen Job.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::CommandPalette</name>
    <message>
        <source>action</source>
        <translation>Aktion</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>node</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <source>job</source>
        <translation>Job</translation>
    </message>
    <message>
        <source>change</source>
        <translation>Änderung</translation>
    </message>
    <message>
        <source>event</source>
        <translation>Ereignis</translation>
    </message>
    <message>
        <source>Go to</source>
        <translation>Gehe zu</translation>
    </message>
    <message>
        <source>An action, a GPU, a node, a job, a change, an event</source>
        <translation>Aktion, GPU, Knoten, Job, Änderung, Ereignis</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suche</translation>
    </message>
    <message>
        <source>Results</source>
        <translation>Ergebnisse</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>Keine Ergebnisse.</translation>
    </message>
    <message>
        <source>Only GPUs: g 5 · nodes: n 1 · jobs: j · changes: h · events: e · actions: a</source>
        <translation>Nur GPUs: g 5 · Knoten: n 1 · Jobs: j · Änderungen: h · Ereignisse: e · Aktionen: a</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ComparePage</name>
    <message>
        <source>Save…</source>
        <translation>Speichern…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Save the comparison</source>
        <translation>Den Vergleich speichern</translation>
    </message>
    <message>
        <source>Save the comparison as CSV or JSON</source>
        <translation>Den Vergleich als CSV oder JSON speichern</translation>
    </message>
    <message>
        <source>Close the comparison</source>
        <translation>Den Vergleich schließen</translation>
    </message>
    <message>
        <source>Return to the selection in the mesh</source>
        <translation>Zur Auswahl im Mesh zurückkehren</translation>
    </message>
    <message>
        <source>Change %1 against change %2</source>
        <translation>Änderung %1 und Änderung %2</translation>
    </message>
    <message>
        <source>CSV tables (*.csv);;JSON (*.json)</source>
        <translation>CSV-Tabellen (*.csv);;JSON (*.json)</translation>
    </message>
    <message>
        <source>Two changes or moments beside each other</source>
        <translation>Zwei Änderungen oder Momente nebeneinander</translation>
    </message>
    <message>
        <source>%1 against %2</source>
        <comment>two moments</comment>
        <translation>%1 gegen %2</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ConnectDialog</name>
    <message>
        <source>connected</source>
        <translation>verbunden</translation>
    </message>
    <message>
        <source>read-only</source>
        <translation>nur lesen</translation>
    </message>
    <message>
        <source>Add a cluster…</source>
        <translation>Cluster hinzufügen…</translation>
    </message>
    <message>
        <source>Add a cluster</source>
        <translation>Einen Cluster hinzufügen</translation>
    </message>
    <message>
        <source>Connect</source>
        <translation>Verbinden</translation>
    </message>
    <message>
        <source>Known clusters</source>
        <translation>Bekannte Cluster</translation>
    </message>
    <message>
        <source>CLUSTERS</source>
        <translation>CLUSTER</translation>
    </message>
    <message>
        <source>Colour tag</source>
        <translation>Farbmarke</translation>
    </message>
    <message>
        <source>Read-only: this panel cannot change the cluster</source>
        <translation>Nur lesen: Dieses Panel kann den Cluster nicht ändern</translation>
    </message>
    <message>
        <source>Read-only</source>
        <translation>Nur lesen</translation>
    </message>
    <message>
        <source>colour tag</source>
        <translation>Farbmarke</translation>
    </message>
    <message>
        <source>Agents</source>
        <translation>Agenten</translation>
    </message>
    <message>
        <source>Test</source>
        <translation>Testen</translation>
    </message>
    <message>
        <source>Test every agent</source>
        <translation>Jeden Agenten testen</translation>
    </message>
    <message>
        <source>Results of the test</source>
        <translation>Ergebnisse des Tests</translation>
    </message>
    <message>
        <source>Forget</source>
        <translation>Vergessen</translation>
    </message>
    <message>
        <source>Forget this cluster</source>
        <translation>Diesen Cluster vergessen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Close without connecting</source>
        <translation>Schließen, ohne zu verbinden</translation>
    </message>
    <message>
        <source>No cluster yet</source>
        <translation>Noch kein Cluster</translation>
    </message>
    <message>
        <source>Add a cluster by the address of its registrar, for example tcp://10.0.0.5:40001, or start a local cluster with emulated GPUs. The button runs this command:</source>
        <translation>Einen Cluster mit der Adresse seines Registrars hinzufügen, etwa tcp://10.0.0.5:40001, oder einen lokalen Cluster mit emulierten GPUs starten. Die Schaltfläche führt diesen Befehl aus:</translation>
    </message>
    <message>
        <source>Command that starts a local cluster</source>
        <translation>Befehl, der einen lokalen Cluster startet</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation>Den Befehl kopieren</translation>
    </message>
    <message>
        <source>Start local cluster (%1 nodes × %2 GPUs)</source>
        <translation>Lokalen Cluster starten (%1 Knoten × %2 GPUs)</translation>
    </message>
    <message>
        <source>Start a local cluster of %1 nodes with %2 GPUs each</source>
        <translation>Einen lokalen Cluster von %1 Knoten mit je %2 GPUs starten</translation>
    </message>
    <message>
        <source>%1 at %2</source>
        <translation>%1 unter %2</translation>
    </message>
    <message>
        <source>, read-only</source>
        <translation>, nur lesen</translation>
    </message>
    <message>
        <source>, connected</source>
        <translation>, verbunden</translation>
    </message>
    <message>
        <source>registrar</source>
        <translation>Registrar</translation>
    </message>
    <message>
        <source>events</source>
        <translation>Ereignisse</translation>
    </message>
    <message>
        <source>server key</source>
        <translation>Server-Schlüssel</translation>
    </message>
    <message>
        <source>your key file</source>
        <translation>eigene Schlüsseldatei</translation>
    </message>
    <message>
        <source>location</source>
        <translation>Ort</translation>
    </message>
    <message>
        <source>on other machines</source>
        <translation>auf anderen Rechnern</translation>
    </message>
    <message>
        <source>on this machine, running</source>
        <translation>auf diesem Rechner, läuft</translation>
    </message>
    <message>
        <source>on this machine, stopped</source>
        <translation>auf diesem Rechner, beendet</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>blue</source>
        <translation>Blau</translation>
    </message>
    <message>
        <source>green</source>
        <translation>Grün</translation>
    </message>
    <message>
        <source>amber</source>
        <translation>Bernstein</translation>
    </message>
    <message>
        <source>red</source>
        <translation>Rot</translation>
    </message>
    <message>
        <source>grey</source>
        <translation>Grau</translation>
    </message>
    <message>
        <source>Connect again</source>
        <translation>Neu verbinden</translation>
    </message>
    <message>
        <source>The cluster runs on this machine. Stop it first: tesseractl down --cluster %1</source>
        <translation>Der Cluster läuft auf diesem Rechner. Zuerst beenden: tesseractl down --cluster %1</translation>
    </message>
    <message>
        <source>Remove the profile. The cluster and your key file are kept.</source>
        <translation>Das Profil entfernen. Cluster und Schlüsseldatei bleiben.</translation>
    </message>
    <message>
        <source>testing…</source>
        <translation>wird getestet…</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Cancel the test</source>
        <translation>Den Test abbrechen</translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation>abgebrochen</translation>
    </message>
    <message>
        <source>tested in %1</source>
        <translation>getestet in %1</translation>
    </message>
    <message>
        <source>%1 is forgotten.</source>
        <translation>%1 ist vergessen.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ConsistencyLesson</name>
    <message>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>Save picture…</source>
        <translation>Bild speichern…</translation>
    </message>
    <message>
        <source>samples trained on</source>
        <translation>trainierte Samples</translation>
    </message>
    <message>
        <source>training loss (nats per token, smoothed)</source>
        <translation>Trainings-Loss (Nats pro Token, geglättet)</translation>
    </message>
    <message>
        <source>Lesson: keeping the position in the data</source>
        <translation>Lektion: die Position in den Daten behalten</translation>
    </message>
    <message>
        <source>Text of the lesson</source>
        <translation>Text der Lektion</translation>
    </message>
    <message>
        <source>The runs use a temporary cluster on this machine. The cluster that you are connected to is not touched.</source>
        <translation>Die Läufe nutzen einen zeitweiligen Cluster auf diesem Rechner. Der verbundene Cluster bleibt unberührt.</translation>
    </message>
    <message>
        <source>Training loss of the three runs over the samples trained on</source>
        <translation>Trainings-Loss der drei Läufe über die Samples</translation>
    </message>
    <message>
        <source>Progress of the runs</source>
        <translation>Fortschritt der Läufe</translation>
    </message>
    <message>
        <source>Trains the job three times on this machine</source>
        <translation>Trainiert den Job dreimal auf diesem Rechner</translation>
    </message>
    <message>
        <source>STEP %1 OF %2</source>
        <translation>SCHRITT %1 VON %2</translation>
    </message>
    <message>
        <source>Choose an answer first</source>
        <translation>Zuerst eine Antwort wählen</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Run again</source>
        <translation>Neu ausführen</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Ausführen</translation>
    </message>
    <message>
        <source>Answer the question first</source>
        <translation>Zuerst die Frage beantworten</translation>
    </message>
    <message>
        <source>stopping the cluster</source>
        <translation>der Cluster wird beendet</translation>
    </message>
    <message>
        <source>The runs failed: %1</source>
        <translation>Die Läufe sind fehlgeschlagen: %1</translation>
    </message>
    <message>
        <source>run %1, in %2</source>
        <translation>Lauf von %1, in %2</translation>
    </message>
    <message>
        <source>starting a cluster</source>
        <translation>ein Cluster wird gestartet</translation>
    </message>
    <message>
        <source>%1 of %2: %3, step %4 of %5</source>
        <translation>%1 von %2: %3, Schritt %4 von %5</translation>
    </message>
    <message>
        <source>, ≈ %1 left</source>
        <translation>, noch ≈ %1</translation>
    </message>
    <message>
        <source>No curves: the runs failed. Run them again.</source>
        <translation>Keine Kurven: Die Läufe sind fehlgeschlagen. Neu ausführen.</translation>
    </message>
    <message>
        <source>The curves appear here after you answer in step 3.</source>
        <translation>Die Kurven erscheinen nach der Antwort in Schritt 3.</translation>
    </message>
    <message>
        <source>The curves appear with the first training steps.</source>
        <translation>Die Kurven erscheinen mit den ersten Trainingsschritten.</translation>
    </message>
    <message>
        <source>The curves appear in the next step.</source>
        <translation>Die Kurven erscheinen im nächsten Schritt.</translation>
    </message>
    <message>
        <source>Nothing has run yet. Press Run. It takes some minutes on all cores of this machine.</source>
        <translation>Noch ist nichts gelaufen. Ausführen dauert einige Minuten auf allen Kernen dieses Rechners.</translation>
    </message>
    <message>
        <source>change of GPUs</source>
        <translation>Wechsel der GPUs</translation>
    </message>
    <message>
        <source>, held out %1</source>
        <translation>, zurückgehalten %1</translation>
    </message>
    <message>
        <source>loss at the end</source>
        <translation>Loss am Ende</translation>
    </message>
    <message>
        <source>There are no results before the three runs have finished.</source>
        <translation>Es gibt keine Ergebnisse, bevor die drei Läufe fertig sind.</translation>
    </message>
    <message>
        <source>saved as %1</source>
        <translation>gespeichert als %1</translation>
    </message>
    <message>
        <source>The picture was not saved: %1</source>
        <translation>Das Bild wurde nicht gespeichert: %1</translation>
    </message>
    <message>
        <source>Save picture</source>
        <translation>Bild speichern</translation>
    </message>
    <message>
        <source>Pictures (*.png);;Vector pictures (*.svg)</source>
        <translation>Bilder (*.png);;Vektorbilder (*.svg)</translation>
    </message>
    <message>
        <source>not distinguishable from the right job&apos;s</source>
        <translation>nicht von dem des richtigen Jobs zu unterscheiden</translation>
    </message>
    <message>
        <source>%1 ± %2 below the right job&apos;s</source>
        <translation>%1 ± %2 unter dem des richtigen Jobs</translation>
    </message>
    <message>
        <source>%1 ± %2 above the right job&apos;s</source>
        <translation>%1 ± %2 über dem des richtigen Jobs</translation>
    </message>
    <message>
        <source>Position lost: %1 samples were read twice, %2 never. At the end its loss on the samples read after the change is %3; on the samples never read it is %4.</source>
        <translation>Position verloren: %1 Samples wurden zweimal gelesen, %2 nie. Am Ende ist sein Loss auf den nach dem Wechsel gelesenen Samples %3; auf den nie gelesenen ist er %4.</translation>
    </message>
    <message>
        <source>GPU batch kept: a step used %1 samples, then %2, at the same learning rate. At the end its loss on the samples read after the change is %3; on text that no run trained on it is %4.</source>
        <translation>GPU-Batch behalten: Ein Schritt nahm %1 Samples, dann %2, bei gleicher Lernrate. Am Ende ist sein Loss auf den nach dem Wechsel gelesenen Samples %3; auf Text, mit dem kein Lauf trainiert hat, ist er %4.</translation>
    </message>
    <message>
        <source>never reconfigured</source>
        <translation>nie umgestellt</translation>
    </message>
    <message>
        <source>right</source>
        <translation>richtig</translation>
    </message>
    <message>
        <source>position lost</source>
        <translation>Position verloren</translation>
    </message>
    <message>
        <source>GPU batch kept</source>
        <translation>GPU-Batch behalten</translation>
    </message>
    <message>
        <source>One job, moved three times</source>
        <translation>Ein Job, dreimal verschoben</translation>
    </message>
    <message>
        <source>Two mistakes that are easy to make</source>
        <translation>Zwei naheliegende Fehler</translation>
    </message>
    <message>
        <source>What do you expect?</source>
        <translation>Was ist zu erwarten?</translation>
    </message>
    <message>
        <source>Watch the runs train</source>
        <translation>Den Läufen zusehen</translation>
    </message>
    <message>
        <source>Results</source>
        <translation>Ergebnisse</translation>
    </message>
    <message>
        <source>A small language model trains on 1 GPU. After half of its pass it moves to 4 GPUs and continues. Three runs do this: one is right, two are wrong on purpose. All of them are real training, on a temporary cluster on this machine.</source>
        <translation>Ein kleines Sprachmodell trainiert auf 1 GPU. Nach der Hälfte seines Durchgangs zieht es auf 4 GPUs um und trainiert weiter. Drei Läufe tun das: Einer ist richtig, zwei sind absichtlich falsch. Alle trainieren wirklich, auf einem zeitweiligen Cluster auf diesem Rechner.</translation>
    </message>
    <message>
        <source>A restarted data loader begins the pass again: it reads the first half twice and the second half never. A job that keeps the batch of each GPU uses four times as many samples per step on four times as many GPUs, at a learning rate that was chosen for fewer.</source>
        <translation>Ein neu gestarteter Data-Loader beginnt den Durchgang von vorn: Er liest die erste Hälfte zweimal und die zweite nie. Ein Job, der den Batch jeder GPU behält, nimmt auf viermal so vielen GPUs viermal so viele Samples pro Schritt, bei einer Lernrate, die für weniger gewählt war.</translation>
    </message>
    <message>
        <source>Consider the samples that a job trains on after the change, and its loss on them at the end. Choose an answer first; the curves stay hidden until you do.</source>
        <translation>Es geht um die Samples, mit denen ein Job nach dem Wechsel trainiert, und um seinen Loss darauf am Ende. Zuerst eine Antwort wählen; die Kurven bleiben bis dahin verborgen.</translation>
    </message>
    <message>
        <source>The three runs train one after the other, which takes some minutes on a small machine. Up to the change their curves are identical. Watch what happens after the dashed line.</source>
        <translation>Die drei Läufe trainieren nacheinander, was auf einem kleinen Rechner einige Minuten dauert. Bis zum Wechsel sind ihre Kurven gleich. Interessant wird es nach der gestrichelten Linie.</translation>
    </message>
    <message>
        <source>Which job will have a lower loss on the samples of its second half than the right job?</source>
        <translation>Welcher Job hat auf den Samples seiner zweiten Hälfte einen kleineren Loss als der richtige?</translation>
    </message>
    <message>
        <source>Position lost</source>
        <translation>Position verloren</translation>
    </message>
    <message>
        <source>Both</source>
        <translation>Beide</translation>
    </message>
    <message>
        <source>Neither</source>
        <translation>Keiner</translation>
    </message>
    <message>
        <source>Lower loss than the right job in these runs: %1.</source>
        <translation>Kleinerer Loss als der richtige Job in diesen Läufen: %1.</translation>
    </message>
    <message>
        <source>As you expected, lower loss than the right job: %1.</source>
        <translation>Wie erwartet, kleinerer Loss als der richtige Job: %1.</translation>
    </message>
    <message>
        <source>You expected: %1. Lower loss than the right job in these runs: %2.</source>
        <translation>Erwartet: %1. Kleinerer Loss als der richtige Job in diesen Läufen: %2.</translation>
    </message>
    <message>
        <source>Right: each of the %1 samples of the pass was read exactly once.</source>
        <translation>Richtig: Jedes der %1 Samples des Durchgangs wurde genau einmal gelesen.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::CopyLine</name>
    <message>
        <source>Copy the %1</source>
        <translation>Kopieren: %1</translation>
    </message>
</context>
<context>
    <name>tessera::ui::CountdownBar</name>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Time until the change starts</source>
        <translation>Zeit bis zum Beginn der Änderung</translation>
    </message>
    <message>
        <source>Stop the countdown</source>
        <translation>Den Countdown anhalten</translation>
    </message>
    <message>
        <source>Planning the change. Esc stops it.</source>
        <translation>Die Änderung wird geplant. Esc hält sie an.</translation>
    </message>
    <message>
        <source>The change starts in %1 s. Esc stops it.</source>
        <translation>Die Änderung beginnt in %1 s. Esc hält sie an.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::DataPage</name>
    <message>
        <source>%1 samples of %2 tokens, %3</source>
        <translation>%1 Samples von %2 Tokens, %3</translation>
    </message>
    <message>
        <source>, weight %1</source>
        <translation>, Gewicht %1</translation>
    </message>
    <message>
        <source>Ranks and samples of the next batch</source>
        <translation>Ranks und Samples des nächsten Batches</translation>
    </message>
    <message>
        <source>DATA SETS</source>
        <translation>DATENSÄTZE</translation>
    </message>
    <message>
        <source>No job is running.</source>
        <translation>Kein Job läuft.</translation>
    </message>
    <message>
        <source>%1 is wrong on purpose: it %2. Its position in the data cannot be derived from its step.</source>
        <translation>%1 ist absichtlich falsch: Der Job %2. Seine Position in den Daten folgt nicht aus seinem Schritt.</translation>
    </message>
    <message>
        <source>The cluster does not report the data of %1.</source>
        <translation>Der Cluster meldet die Daten von %1 nicht.</translation>
    </message>
    <message>
        <source>%1 is an external program. It reads its data itself; its position in the data is part of its state.</source>
        <translation>%1 ist ein externes Programm. Es liest seine Daten selbst; seine Position in den Daten ist Teil seines Zustands.</translation>
    </message>
    <message>
        <source>%1, pass %2</source>
        <translation>%1, Durchgang %2</translation>
    </message>
    <message>
        <source>%1 of %2 samples done (%3) · global batch %4</source>
        <translation>%1 von %2 Samples fertig (%3) · globaler Batch %4</translation>
    </message>
    <message>
        <source> · pass ends in ≈ %1</source>
        <translation> · Durchgang endet in ≈ %1</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>AROUND CHANGE %1</source>
        <translation>UM ÄNDERUNG %1</translation>
    </message>
    <message>
        <source>dp was %2 up to position %1 and is %3 from there. No sample is read twice, none is skipped, and a step still uses %4.</source>
        <translation>dp war %2 bis Position %1 und ist ab da %3. Kein Sample wird doppelt gelesen, keines ausgelassen, und ein Schritt nimmt weiterhin %4.</translation>
    </message>
    <message>
        <source>NEXT BATCHES</source>
        <translation>NÄCHSTE BATCHES</translation>
    </message>
    <message>
        <source>Changes of the mesh in this pass are marked on the strip above.</source>
        <translation>Änderungen des Mesh in diesem Durchgang sind auf dem Streifen oben markiert.</translation>
    </message>
    <message>
        <source>1 change of the mesh in this pass. Click its mark on the strip to see its batches.</source>
        <translation>1 Änderung des Mesh in diesem Durchgang. Ein Klick auf ihre Marke im Streifen zeigt ihre Batches.</translation>
    </message>
    <message>
        <source>%1 changes of the mesh in this pass. Click a mark on the strip to see its batches.</source>
        <translation>%1 Änderungen des Mesh in diesem Durchgang. Ein Klick auf eine Marke im Streifen zeigt ihre Batches.</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>Show the pass over the data and the next samples of each rank</source>
        <translation>Den Durchgang durch die Daten und die nächsten Samples jedes Ranks zeigen</translation>
    </message>
    <message>
        <source>D&amp;ata</source>
        <translation>&amp;Daten</translation>
    </message>
</context>
<context>
    <name>tessera::ui::DecisionPanel</name>
    <message>
        <source>Wait</source>
        <translation>Warten</translation>
    </message>
    <message>
        <source>What the job does at later losses</source>
        <translation>Was der Job bei späteren Verlusten tut</translation>
    </message>
    <message>
        <source>ask</source>
        <translation>fragen</translation>
    </message>
    <message>
        <source>continue with what is left</source>
        <translation>mit dem Rest fortfahren</translation>
    </message>
    <message>
        <source>wait</source>
        <translation>warten</translation>
    </message>
    <message>
        <source>At later losses:</source>
        <translation>Bei späteren Verlusten:</translation>
    </message>
    <message>
        <source>The state after step %1 is complete in memory.</source>
        <translation>Der Zustand nach Schritt %1 ist vollständig im Speicher.</translation>
    </message>
    <message>
        <source>The state after step %1 is complete in memory, but the job cannot continue: %2.</source>
        <translation>Der Zustand nach Schritt %1 ist vollständig im Speicher, aber der Job kann nicht fortfahren: %2.</translation>
    </message>
    <message>
        <source>%1. %2 of %3 have no other copy in memory.</source>
        <translation>%1. %2 von %3 haben keine andere Kopie im Speicher.</translation>
    </message>
    <message>
        <source>Missing: %1. The rest stays in memory.</source>
        <translation>Es fehlen: %1. Der Rest bleibt im Speicher.</translation>
    </message>
    <message>
        <source>waits for the lost GPUs</source>
        <translation>wartet auf die verlorenen GPUs</translation>
    </message>
    <message>
        <source>continues by itself in %1 s</source>
        <translation>fährt in %1 s von selbst fort</translation>
    </message>
    <message>
        <source>continues</source>
        <translation>fährt fort</translation>
    </message>
    <message>
        <source>waits for your choice</source>
        <translation>wartet auf eine Entscheidung</translation>
    </message>
    <message>
        <source>Continue with %1</source>
        <translation>Fortfahren mit %1</translation>
    </message>
    <message>
        <source>≈ %1 per step</source>
        <translation>≈ %1 pro Schritt</translation>
    </message>
    <message>
        <source>%1, was %2</source>
        <translation>%1, vorher %2</translation>
    </message>
    <message>
        <source>0 steps lost · continues when its GPUs are back</source>
        <translation>0 Schritte verloren · fährt fort, sobald seine GPUs zurück sind</translation>
    </message>
    <message>
        <source>continues if its GPUs come back with their state</source>
        <translation>fährt fort, wenn seine GPUs mit ihrem Zustand zurückkommen</translation>
    </message>
    <message>
        <source>the state stays in memory</source>
        <translation>der Zustand bleibt im Speicher</translation>
    </message>
    <message>
        <source>the rest stays in memory</source>
        <translation>der Rest bleibt im Speicher</translation>
    </message>
    <message>
        <source>layer %1</source>
        <translation>Schicht %1</translation>
    </message>
    <message>
        <source>layers %1</source>
        <translation>Schichten %1</translation>
    </message>
    <message>
        <source>Start over…</source>
        <translation>Neu anfangen…</translation>
    </message>
    <message>
        <source>Stop the job…</source>
        <translation>Job beenden…</translation>
    </message>
    <message>
        <source>Stop the job and start it from its first step</source>
        <translation>Den Job beenden und von seinem ersten Schritt an starten</translation>
    </message>
    <message>
        <source>Stop the job and free its state</source>
        <translation>Den Job beenden und seinen Zustand freigeben</translation>
    </message>
    <message>
        <source>%1. No state of %2 was lost: other GPUs hold a full copy.</source>
        <translation>%1. Vom Zustand von %2 ging nichts verloren: Andere GPUs halten eine vollständige Kopie.</translation>
    </message>
    <message>
        <source>cannot continue</source>
        <translation>kann nicht fortfahren</translation>
    </message>
    <message>
        <source>Snapshot of step %1</source>
        <translation>Snapshot von Schritt %1</translation>
    </message>
    <message>
        <source>Checkpoint of step %1</source>
        <translation>Checkpoint von Schritt %1</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>erhalten</translation>
    </message>
    <message>
        <source>%1 lost</source>
        <translation>%1 verloren</translation>
    </message>
    <message>
        <source>moves %1</source>
        <translation>bewegt %1</translation>
    </message>
    <message>
        <source>reads %1</source>
        <translation>liest %1</translation>
    </message>
    <message>
        <source>replicas: %1</source>
        <translation>Replikate: %1</translation>
    </message>
    <message>
        <source>≈ %1</source>
        <translation>≈ %1</translation>
    </message>
    <message>
        <source>time: %1</source>
        <translation>Dauer: %1</translation>
    </message>
    <message>
        <source>Wait for %1</source>
        <translation>Auf %1 warten</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Fortfahren</translation>
    </message>
    <message>
        <source>Go back…</source>
        <translation>Zurückgehen…</translation>
    </message>
    <message>
        <source>Start %1</source>
        <translation>%1 starten</translation>
    </message>
    <message>
        <source>The GPUs of the node are empty then.</source>
        <translation>Die GPUs des Knotens sind dann leer.</translation>
    </message>
    <message>
        <source>Start the lost nodes</source>
        <translation>Die verlorenen Knoten starten</translation>
    </message>
    <message>
        <source>A way to continue</source>
        <translation>Eine Möglichkeit fortzufahren</translation>
    </message>
</context>
<context>
    <name>tessera::ui::DeviceChips</name>
    <message>
        <source>%1 is idle</source>
        <translation>%1 ist frei</translation>
    </message>
    <message>
        <source>%1 cannot be used now</source>
        <translation>%1 ist jetzt nicht nutzbar</translation>
    </message>
    <message>
        <source>%1 is used by %2</source>
        <translation>%1 wird von %2 genutzt</translation>
    </message>
</context>
<context>
    <name>tessera::ui::DiffTableModel</name>
    <message>
        <source>what</source>
        <translation>was</translation>
    </message>
    <message>
        <source>A</source>
        <translation>A</translation>
    </message>
    <message>
        <source>B</source>
        <translation>B</translation>
    </message>
</context>
<context>
    <name>tessera::ui::DoctorDialog</name>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Run again</source>
        <translation>Erneut prüfen</translation>
    </message>
    <message>
        <source>Doctor</source>
        <translation>Diagnose</translation>
    </message>
    <message>
        <source>Doctor · %1</source>
        <translation>Diagnose · %1</translation>
    </message>
    <message>
        <source>Findings on the nodes</source>
        <translation>Befunde auf den Knoten</translation>
    </message>
    <message>
        <source>Copy the selected findings, or all</source>
        <translation>Die gewählten Befunde kopieren, sonst alle</translation>
    </message>
    <message>
        <source>Check every node again</source>
        <translation>Jeden Knoten erneut prüfen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Close the findings</source>
        <translation>Die Befunde schließen</translation>
    </message>
    <message>
        <source>1 finding</source>
        <translation>1 Befund</translation>
    </message>
    <message>
        <source>%1 findings</source>
        <translation>%1 Befunde</translation>
    </message>
    <message>
        <source>Checking every node…</source>
        <translation>Alle Knoten werden geprüft…</translation>
    </message>
    <message>
        <source>The nodes could not be checked: %1.</source>
        <translation>Die Knoten konnten nicht geprüft werden: %1.</translation>
    </message>
    <message>
        <source>No node answered.</source>
        <translation>Kein Knoten hat geantwortet.</translation>
    </message>
    <message>
        <source>%1, no problems.</source>
        <translation>%1, keine Probleme.</translation>
    </message>
    <message>
        <source>%1, 1 needs attention.</source>
        <translation>%1, 1 braucht Aufmerksamkeit.</translation>
    </message>
    <message>
        <source>%1, %2 need attention.</source>
        <translation>%1, %2 brauchen Aufmerksamkeit.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::Draft</name>
    <message>
        <source>add %1</source>
        <translation>%1 hinzufügen</translation>
    </message>
    <message>
        <source>remove %1</source>
        <translation>%1 entfernen</translation>
    </message>
    <message>
        <source>swap %1 for %2</source>
        <translation>%1 gegen %2 tauschen</translation>
    </message>
    <message>
        <source>fix %1 = %2</source>
        <translation>%1 = %2 festhalten</translation>
    </message>
    <message>
        <source>unfix %1</source>
        <translation>%1 freigeben</translation>
    </message>
    <message>
        <source>change the options</source>
        <translation>Optionen ändern</translation>
    </message>
    <message>
        <source>discard the draft</source>
        <translation>Entwurf verwerfen</translation>
    </message>
    <message>
        <source>The places of a changed draft can be swapped once it is planned with all its GPUs.</source>
        <translation>Plätze eines geänderten Entwurfs lassen sich tauschen, sobald er mit allen seinen GPUs geplant ist.</translation>
    </message>
    <message>
        <source>swap %1 and %2</source>
        <translation>%1 und %2 tauschen</translation>
    </message>
</context>
<context>
    <name>tessera::ui::DraftPlan</name>
    <message>
        <source>A job needs at least one GPU.</source>
        <translation>Ein Job braucht mindestens eine GPU.</translation>
    </message>
    <message>
        <source>%1 needs %2 GPUs, the draft has %3.</source>
        <translation>%1 braucht %2 GPUs, der Entwurf hat %3.</translation>
    </message>
    <message>
        <source>%1 uses %2 of %3 GPUs: remove %4 or raise a degree.</source>
        <translation>%1 nutzt %2 von %3 GPUs: %4 entfernen oder einen Grad erhöhen.</translation>
    </message>
    <message>
        <source>The cluster changed. Planning again.</source>
        <translation>Der Cluster hat sich geändert. Neu planen.</translation>
    </message>
    <message>
        <source>The program was not asked whether it can run there: %1</source>
        <translation>Das Programm wurde nicht gefragt, ob es dort laufen kann: %1</translation>
    </message>
</context>
<context>
    <name>tessera::ui::DraftProposal</name>
    <message>
        <source>choose %1</source>
        <translation>%1 wählen</translation>
    </message>
</context>
<context>
    <name>tessera::ui::EventTableModel</name>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Severity</source>
        <translation>Schwere</translation>
    </message>
    <message>
        <source>Event</source>
        <translation>Ereignis</translation>
    </message>
    <message>
        <source>%1 · %2
%3</source>
        <translation>%1 · %2
%3</translation>
    </message>
</context>
<context>
    <name>tessera::ui::EventsPage</name>
    <message>
        <source>Export…</source>
        <translation>Exportieren…</translation>
    </message>
    <message>
        <source>Follow</source>
        <translation>Folgen</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Ereignisse</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>Filter</translation>
    </message>
    <message>
        <source>Filter events</source>
        <translation>Ereignisse filtern</translation>
    </message>
    <message>
        <source>all</source>
        <translation>alle</translation>
    </message>
    <message>
        <source>≥ info</source>
        <translation>≥ Info</translation>
    </message>
    <message>
        <source>≥ warning</source>
        <translation>≥ Warnung</translation>
    </message>
    <message>
        <source>errors</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Lowest severity shown</source>
        <translation>Niedrigste gezeigte Schwere</translation>
    </message>
    <message>
        <source>Export the events</source>
        <translation>Die Ereignisse exportieren</translation>
    </message>
    <message>
        <source>Save the events shown as CSV or JSON</source>
        <translation>Die gezeigten Ereignisse als CSV oder JSON speichern</translation>
    </message>
    <message>
        <source>Follow the newest event</source>
        <translation>Dem neuesten Ereignis folgen</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>CSV tables (*.csv);;JSON (*.json)</source>
        <translation>CSV-Tabellen (*.csv);;JSON (*.json)</translation>
    </message>
</context>
<context>
    <name>tessera::ui::FileDetails</name>
    <message>
        <source>path</source>
        <translation>Pfad</translation>
    </message>
    <message>
        <source>Copy path</source>
        <translation>Pfad kopieren</translation>
    </message>
    <message>
        <source>Python line</source>
        <translation>Python-Zeile</translation>
    </message>
    <message>
        <source>Copy line</source>
        <translation>Zeile kopieren</translation>
    </message>
    <message>
        <source>LOCATION OF THE BYTES</source>
        <translation>ORT DER BYTES</translation>
    </message>
    <message>
        <source>Copied %1</source>
        <translation>%1 kopiert</translation>
    </message>
    <message>
        <source>Copied the Python line</source>
        <translation>Die Python-Zeile kopiert</translation>
    </message>
    <message>
        <source>Ranges of bytes and the GPUs that hold them</source>
        <translation>Bytebereiche und die GPUs, die sie halten</translation>
    </message>
    <message>
        <source>and %1 more ranges</source>
        <translation>und %1 weitere Bereiche</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
</context>
<context>
    <name>tessera::ui::FileFacts</name>
    <message>
        <source>%1 bytes</source>
        <translation>%1 Bytes</translation>
    </message>
    <message>
        <source>%1 (%2 bytes)</source>
        <translation>%1 (%2 Bytes)</translation>
    </message>
    <message>
        <source>One folder per job.</source>
        <translation>Ein Ordner pro Job.</translation>
    </message>
    <message>
        <source>The state of the job as files, all from the same step.</source>
        <translation>Der Zustand des Jobs als Dateien, alle vom selben Schritt.</translation>
    </message>
    <message>
        <source>The shards of each rank, one folder per rank.</source>
        <translation>Die Shards jedes Ranks, ein Ordner pro Rank.</translation>
    </message>
    <message>
        <source>The shards of rank %1, on %2.</source>
        <translation>Die Shards von Rank %1, auf %2.</translation>
    </message>
    <message>
        <source>Every tensor in full, whatever the mesh.</source>
        <translation>Jeder Tensor als Ganzes, unabhängig vom Mesh.</translation>
    </message>
    <message>
        <source>The number of the job&apos;s committed layout.</source>
        <translation>Die Nummer des festgeschriebenen Layouts des Jobs.</translation>
    </message>
    <message>
        <source>The step of all files of the job.</source>
        <translation>Der Schritt aller Dateien des Jobs.</translation>
    </message>
    <message>
        <source>The mesh, and how it cuts each tensor.</source>
        <translation>Das Mesh und wie es jeden Tensor schneidet.</translation>
    </message>
    <message>
        <source>Parameters and buffers.</source>
        <translation>Parameter und Puffer.</translation>
    </message>
    <message>
        <source>State that only training needs: master weights, moments, scalars and random streams.</source>
        <translation>Zustand, den nur das Training braucht: Master-Gewichte, Momente, Skalare und Zufallsströme.</translation>
    </message>
    <message>
        <source>step %1, or the job&apos;s step when the file is opened first</source>
        <translation>Schritt %1, oder der Schritt des Jobs beim ersten Öffnen der Datei</translation>
    </message>
    <message>
        <source>This tensor has no elements.</source>
        <translation>Dieser Tensor hat keine Elemente.</translation>
    </message>
    <message>
        <source>In one range on %1.</source>
        <translation>In einem Bereich auf %1.</translation>
    </message>
    <message>
        <source>%1 ranges, each on %2.</source>
        <translation>%1 Bereiche, jeder auf %2.</translation>
    </message>
    <message>
        <source>%1, range %2 of %3</source>
        <translation>%1, Bereich %2 von %3</translation>
    </message>
    <message>
        <source>size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>bytes of the file</source>
        <translation>Bytes der Datei</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <source>content</source>
        <translation>Inhalt</translation>
    </message>
    <message>
        <source>now</source>
        <translation>jetzt</translation>
    </message>
    <message>
        <source>mesh</source>
        <translation>Mesh</translation>
    </message>
    <message>
        <source>tensors</source>
        <translation>Tensoren</translation>
    </message>
    <message>
        <source>One bar for each replica. Reading fetches only the requested bytes from the GPUs.</source>
        <translation>Ein Balken pro Replikat. Lesen holt nur die verlangten Bytes von den GPUs.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::FileTreeModel</name>
    <message>
        <source>1 tensor</source>
        <translation>1 Tensor</translation>
    </message>
    <message>
        <source>%1 tensors</source>
        <translation>%1 Tensoren</translation>
    </message>
    <message>
        <source>%1 of %2 tensors</source>
        <translation>%1 von %2 Tensoren</translation>
    </message>
    <message>
        <source>%1
%2, %3 bytes</source>
        <translation>%1
%2, %3 Bytes</translation>
    </message>
    <message>
        <source>tensor %1, %2</source>
        <translation>Tensor %1, %2</translation>
    </message>
    <message>
        <source>%1
%2 bytes</source>
        <translation>%1
%2 Bytes</translation>
    </message>
    <message>
        <source>name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>size</source>
        <translation>Größe</translation>
    </message>
</context>
<context>
    <name>tessera::ui::FileTreeView</name>
    <message>
        <source>Files of the jobs</source>
        <translation>Dateien der Jobs</translation>
    </message>
</context>
<context>
    <name>tessera::ui::FilesPage</name>
    <message>
        <source>command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>The selected file</source>
        <translation>Die gewählte Datei</translation>
    </message>
    <message>
        <source>Copied %1</source>
        <translation>%1 kopiert</translation>
    </message>
    <message>
        <source>Open the folder of the selected file</source>
        <translation>Den Ordner der gewählten Datei öffnen</translation>
    </message>
    <message>
        <source>Filter tensors, or ranks: 17, n2, n2g1</source>
        <translation>Tensoren oder Ranks filtern: 17, n2, n2g1</translation>
    </message>
    <message>
        <source>Filter tensors and ranks</source>
        <translation>Tensoren und Ranks filtern</translation>
    </message>
    <message>
        <source>Copy path</source>
        <translation>Pfad kopieren</translation>
    </message>
    <message>
        <source>Copy Python line</source>
        <translation>Python-Zeile kopieren</translation>
    </message>
    <message>
        <source>A history file contains no state.</source>
        <translation>Eine Verlaufsdatei enthält keinen Zustand.</translation>
    </message>
    <message>
        <source>The history contains no state, so there are no files of the past. Return to live to see the files of now.</source>
        <translation>Der Verlauf enthält keinen Zustand, also gibt es keine Dateien der Vergangenheit. In Live sind die jetzigen Dateien zu sehen.</translation>
    </message>
    <message>
        <source>The cluster of a lesson is simulated, so it has no files.</source>
        <translation>Der Cluster einer Lektion ist simuliert, also hat er keine Dateien.</translation>
    </message>
    <message>
        <source>There is no cluster to show.</source>
        <translation>Es gibt keinen Cluster zu zeigen.</translation>
    </message>
    <message>
        <source>The list of files could not be read: %1. Trying again.</source>
        <translation>Die Liste der Dateien konnte nicht gelesen werden: %1. Neuer Versuch.</translation>
    </message>
    <message>
        <source>Reading the list of files…</source>
        <translation>Liste der Dateien wird gelesen…</translation>
    </message>
    <message>
        <source>There is no connection to the cluster.</source>
        <translation>Es gibt keine Verbindung zum Cluster.</translation>
    </message>
    <message>
        <source>No job is running, so there are no files.</source>
        <translation>Kein Job läuft, also gibt es keine Dateien.</translation>
    </message>
    <message>
        <source>%1 has no layout yet, so it has no files.</source>
        <translation>%1 hat noch kein Layout, also keine Dateien.</translation>
    </message>
    <message>
        <source>Mounted on this machine at %1</source>
        <translation>Auf diesem Rechner eingehängt unter %1</translation>
    </message>
    <message>
        <source>Not mounted on this machine. To mount the files here, run:</source>
        <translation>Auf diesem Rechner nicht eingehängt. Einhängen mit:</translation>
    </message>
    <message>
        <source>These are the files of the live job. A draft has no files.</source>
        <translation>Dies sind die Dateien des laufenden Jobs. Ein Entwurf hat keine Dateien.</translation>
    </message>
    <message>
        <source>&amp;Copy the File&apos;s Path</source>
        <translation>&amp;Pfad der Datei kopieren</translation>
    </message>
    <message>
        <source>Copy the path of the file selected in the Files view</source>
        <translation>Den Pfad der in der Ansicht Dateien gewählten Datei kopieren</translation>
    </message>
    <message>
        <source>Select a file in the Files view first.</source>
        <translation>Zuerst in der Ansicht Dateien eine Datei wählen.</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Show the state as files, with their paths and the location of their bytes</source>
        <translation>Den Zustand als Dateien zeigen, mit ihren Pfaden und dem Ort ihrer Bytes</translation>
    </message>
    <message>
        <source>F&amp;iles</source>
        <translation>D&amp;ateien</translation>
    </message>
</context>
<context>
    <name>tessera::ui::FlowBars</name>
    <message>
        <source>done</source>
        <translation>fertig</translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation>und %1 weitere</translation>
    </message>
</context>
<context>
    <name>tessera::ui::FlowsPage</name>
    <message>
        <source>Moving only</source>
        <translation>Nur bewegte</translation>
    </message>
    <message>
        <source>Only flows that move</source>
        <translation>Nur Flüsse, die sich bewegen</translation>
    </message>
    <message>
        <source>Show moving flows only</source>
        <translation>Nur bewegte Flüsse zeigen</translation>
    </message>
    <message>
        <source>Hide the flows that wait or are done</source>
        <translation>Flüsse verbergen, die warten oder fertig sind</translation>
    </message>
    <message>
        <source>Flows of the change</source>
        <translation>Flüsse der Änderung</translation>
    </message>
    <message>
        <source>No change is in progress. While one is, each flow between two GPUs has a row here.</source>
        <translation>Keine Änderung läuft. Während einer Änderung hat jeder Fluss zwischen zwei GPUs hier eine Zeile.</translation>
    </message>
    <message>
        <source>No flow is moving now.</source>
        <translation>Gerade bewegt sich kein Fluss.</translation>
    </message>
    <message>
        <source>%1 of %2 flows are done</source>
        <translation>%1 von %2 Flüssen sind fertig</translation>
    </message>
    <message>
        <source>%1 of %2 flows move</source>
        <translation>%1 von %2 Flüssen bewegen sich</translation>
    </message>
    <message>
        <source>, %1 stalled</source>
        <translation>, %1 stocken</translation>
    </message>
</context>
<context>
    <name>tessera::ui::HeaderBar</name>
    <message>
        <source>Monitor</source>
        <translation>Beobachten</translation>
    </message>
    <message>
        <source>Live moves</source>
        <translation>Live-Änderungen</translation>
    </message>
    <message>
        <source>Live</source>
        <translation>Live</translation>
    </message>
    <message>
        <source>Show the live layout</source>
        <translation>Das Live-Layout zeigen</translation>
    </message>
    <message>
        <source>Draft</source>
        <translation>Entwurf</translation>
    </message>
    <message>
        <source>Show the draft</source>
        <translation>Den Entwurf zeigen</translation>
    </message>
    <message>
        <source>Past</source>
        <translation>Vergangen</translation>
    </message>
    <message>
        <source>Show the past</source>
        <translation>Die Vergangenheit zeigen</translation>
    </message>
    <message>
        <source>Lesson</source>
        <translation>Lektion</translation>
    </message>
    <message>
        <source>Show a lesson</source>
        <translation>Eine Lektion zeigen</translation>
    </message>
    <message>
        <source>Live moves: a drop starts a change after a countdown</source>
        <translation>Live-Änderungen: Ablegen startet nach einem Countdown eine Änderung</translation>
    </message>
    <message>
        <source>Select the job to show</source>
        <translation>Den gezeigten Job wählen</translation>
    </message>
    <message>
        <source>Go to…</source>
        <translation>Gehe zu…</translation>
    </message>
    <message>
        <source>Ctrl+K</source>
        <translation>Strg+K</translation>
    </message>
    <message>
        <source>Go to an action, a GPU, a node, a job, a change or an event</source>
        <translation>Zu Aktion, GPU, Knoten, Job, Änderung oder Ereignis gehen</translation>
    </message>
    <message>
        <source>Search actions, GPUs, nodes, jobs, changes and events (Ctrl+K)</source>
        <translation>Aktionen, GPUs, Knoten, Jobs, Änderungen und Ereignisse suchen (Strg+K)</translation>
    </message>
    <message>
        <source>%1 jobs</source>
        <translation>%1 Jobs</translation>
    </message>
    <message>
        <source>%1 — %2</source>
        <translation>%1 – %2</translation>
    </message>
    <message>
        <source>SIMULATED, stopped</source>
        <translation>SIMULIERT, steht</translation>
    </message>
    <message>
        <source>SIMULATED %1 ×</source>
        <translation>SIMULIERT %1 ×</translation>
    </message>
    <message>
        <source>Hardware %1, seed %2. %3 simulated seconds pass in a second.</source>
        <translation>Hardware %1, Startwert %2. %3 simulierte Sekunden vergehen pro Sekunde.</translation>
    </message>
    <message>
        <source>This machine does not compute %1.</source>
        <translation>Dieser Rechner rechnet %1 nicht selbst.</translation>
    </message>
    <message>
        <source>lesson, epoch %1</source>
        <translation>Lektion, Epoche %1</translation>
    </message>
    <message>
        <source>at %1, epoch %2</source>
        <translation>um %1, Epoche %2</translation>
    </message>
    <message>
        <source>No cluster</source>
        <translation>Kein Cluster</translation>
    </message>
    <message>
        <source>connecting</source>
        <translation>Verbindung wird aufgebaut</translation>
    </message>
    <message>
        <source>as of %1</source>
        <translation>Stand %1</translation>
    </message>
    <message>
        <source>no job</source>
        <translation>kein Job</translation>
    </message>
    <message>
        <source>paused after step %1</source>
        <translation>angehalten nach Schritt %1</translation>
    </message>
    <message>
        <source>%1, epoch %2</source>
        <translation>%1, Epoche %2</translation>
    </message>
    <message>
        <source>history file, not live</source>
        <translation>Verlaufsdatei, nicht live</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>angehalten</translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation>Tokens/s</translation>
    </message>
    <message>
        <source>Operate</source>
        <translation>Bedienen</translation>
    </message>
    <message>
        <source>Operate: this panel can change the cluster</source>
        <translation>Bedienen: Dieses Panel kann den Cluster ändern</translation>
    </message>
    <message>
        <source>Monitor: this panel cannot change the cluster</source>
        <translation>Beobachten: Dieses Panel kann den Cluster nicht ändern</translation>
    </message>
    <message>
        <source>Lock (Ctrl+Shift+O)</source>
        <translation>Sperren (Strg+Umschalt+O)</translation>
    </message>
    <message>
        <source>Switch to Operate (Ctrl+Shift+O)</source>
        <translation>Zu Bedienen wechseln (Strg+Umschalt+O)</translation>
    </message>
    <message>
        <source>A drop starts a change after a countdown. Esc stops it</source>
        <translation>Ablegen startet nach einem Countdown eine Änderung. Esc hält ihn an</translation>
    </message>
    <message>
        <source>Switch to Operate first (Ctrl+Shift+O)</source>
        <translation>Zuerst zu Bedienen wechseln (Strg+Umschalt+O)</translation>
    </message>
    <message>
        <source>SIMULATED</source>
        <translation>SIMULIERT</translation>
    </message>
    <message>
        <source>The cluster of this history was simulated, on hardware %1.</source>
        <translation>Der Cluster dieses Verlaufs war simuliert, auf Hardware %1.</translation>
    </message>
    <message>
        <source>%1 per step</source>
        <translation>%1 pro Schritt</translation>
    </message>
    <message>
        <source>stopped at %1</source>
        <translation>um %1 beendet</translation>
    </message>
</context>
<context>
    <name>tessera::ui::HelpWindow</name>
    <message>
        <source>Tessera guide</source>
        <translation>Handbuch von Tessera</translation>
    </message>
    <message>
        <source>Search the guide</source>
        <translation>Im Handbuch suchen</translation>
    </message>
    <message>
        <source>Contents</source>
        <translation>Inhalt</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>Previous page</source>
        <translation>Vorige Seite</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>Vor</translation>
    </message>
    <message>
        <source>Next page</source>
        <translation>Nächste Seite</translation>
    </message>
    <message>
        <source>Page of the guide</source>
        <translation>Seite des Handbuchs</translation>
    </message>
    <message>
        <source>This page is in English.</source>
        <translation>Diese Seite ist englisch.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::HistoryPage</name>
    <message>
        <source>Export…</source>
        <translation>Exportieren…</translation>
    </message>
    <message>
        <source>Draft an undo…</source>
        <translation>Rücknahme entwerfen…</translation>
    </message>
    <message>
        <source>Export the history</source>
        <translation>Den Verlauf exportieren</translation>
    </message>
    <message>
        <source>Save the history as CSV or JSON</source>
        <translation>Den Verlauf als CSV oder JSON speichern</translation>
    </message>
    <message>
        <source>Draft an undo of the selected change</source>
        <translation>Eine Rücknahme der gewählten Änderung entwerfen</translation>
    </message>
    <message>
        <source>Draft an undo of the selected (or latest) change</source>
        <translation>Eine Rücknahme der gewählten (oder letzten) Änderung entwerfen</translation>
    </message>
    <message>
        <source>History of changes</source>
        <translation>Verlauf der Änderungen</translation>
    </message>
    <message>
        <source>Ctrl+click a second change to compare two</source>
        <translation>Strg+Klick auf eine zweite Änderung vergleicht beide</translation>
    </message>
    <message>
        <source>The history could not be read: %1.</source>
        <translation>Der Verlauf konnte nicht gelesen werden: %1.</translation>
    </message>
    <message>
        <source>Reading the history…</source>
        <translation>Verlauf wird gelesen…</translation>
    </message>
    <message>
        <source>The history starts with your first change.</source>
        <translation>Der Verlauf beginnt mit der ersten Änderung.</translation>
    </message>
    <message>
        <source>CSV tables (*.csv);;JSON (*.json)</source>
        <translation>CSV-Tabellen (*.csv);;JSON (*.json)</translation>
    </message>
</context>
<context>
    <name>tessera::ui::HistoryTableModel</name>
    <message>
        <source>When</source>
        <translation>Wann</translation>
    </message>
    <message>
        <source>Job</source>
        <translation>Job</translation>
    </message>
    <message>
        <source>Moved</source>
        <translation>Verschoben</translation>
    </message>
    <message>
        <source>Least possible</source>
        <translation>Kleinstmöglich</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source>Digests</source>
        <translation>Digests</translation>
    </message>
    <message>
        <source>Transaction %1: %2
→ %3</source>
        <translation>Transaktion %1: %2
→ %3</translation>
    </message>
    <message>
        <source>digest %1 → %2</source>
        <translation>Digest %1 → %2</translation>
    </message>
    <message>
        <source>Gap</source>
        <translation>Lücke</translation>
    </message>
</context>
<context>
    <name>tessera::ui::Inspector</name>
    <message>
        <source>Flows, slowest first</source>
        <translation>Flüsse, langsamste zuerst</translation>
    </message>
    <message>
        <source>job</source>
        <translation>Job</translation>
    </message>
    <message>
        <source>%1, rank %2 (joining)</source>
        <translation>%1, Rank %2 (tritt bei)</translation>
    </message>
    <message>
        <source>coordinates</source>
        <translation>Koordinaten</translation>
    </message>
    <message>
        <source>%1, rank %2</source>
        <translation>%1, Rank %2</translation>
    </message>
    <message>
        <source>shards</source>
        <translation>Shards</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>optimizer state</source>
        <translation>Optimizer-Zustand</translation>
    </message>
    <message>
        <source>same shards on</source>
        <translation>gleiche Shards auf</translation>
    </message>
    <message>
        <source>no other GPU</source>
        <translation>keiner anderen GPU</translation>
    </message>
    <message>
        <source>%1 replicas of the shards on this GPU</source>
        <translation>%1 Replikate der Shards auf dieser GPU</translation>
    </message>
    <message>
        <source>joining</source>
        <translation>tritt bei</translation>
    </message>
    <message>
        <source>none, idle</source>
        <translation>keine, frei</translation>
    </message>
    <message>
        <source>%1 (this host)</source>
        <translation>%1 (dieser Host)</translation>
    </message>
    <message>
        <source>node</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <source>address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>state</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <source>receives</source>
        <translation>empfängt</translation>
    </message>
    <message>
        <source>%1 from %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>done</source>
        <translation>fertig</translation>
    </message>
    <message>
        <source>sends</source>
        <translation>sendet</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>step time</source>
        <translation>Schrittzeit</translation>
    </message>
    <message>
        <source>computes</source>
        <translation>rechnet</translation>
    </message>
    <message>
        <source>%1 of a step</source>
        <translation>%1 eines Schritts</translation>
    </message>
    <message>
        <source>its peers compute %1</source>
        <translation>die anderen rechnen %1</translation>
    </message>
    <message>
        <source>waits</source>
        <translation>wartet</translation>
    </message>
    <message>
        <source>share of a step in which this GPU waits for others or for data</source>
        <translation>Anteil eines Schritts, in dem diese GPU auf andere oder auf Daten wartet</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPUs</translation>
    </message>
    <message>
        <source>nodes</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <source>in a job</source>
        <translation>in einem Job</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>last seen %1</source>
        <translation>zuletzt gesehen %1</translation>
    </message>
    <message>
        <source>%1 idle</source>
        <translation>%1 frei</translation>
    </message>
    <message>
        <source>%1 failed</source>
        <translation>%1 ausgefallen</translation>
    </message>
    <message>
        <source>host</source>
        <translation>Host</translation>
    </message>
    <message>
        <source>agent version</source>
        <translation>Version des Agenten</translation>
    </message>
    <message>
        <source>jobs</source>
        <translation>Jobs</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>network</source>
        <translation>Netzwerk</translation>
    </message>
    <message>
        <source>since the agent started</source>
        <translation>seit Start des Agenten</translation>
    </message>
    <message>
        <source>model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>mesh</source>
        <translation>Mesh</translation>
    </message>
    <message>
        <source>options</source>
        <translation>Optionen</translation>
    </message>
    <message>
        <source>median of the last steps</source>
        <translation>Median der letzten Schritte</translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation>Tokens/s</translation>
    </message>
    <message>
        <source>one full replica</source>
        <translation>ein volles Replikat</translation>
    </message>
    <message>
        <source>epoch</source>
        <translation>Epoche</translation>
    </message>
    <message>
        <source>layout</source>
        <translation>Layout</translation>
    </message>
    <message>
        <source>saving, %1 of %2</source>
        <translation>wird gespeichert, %1 von %2</translation>
    </message>
    <message>
        <source>saving</source>
        <translation>wird gespeichert</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>every %1</source>
        <translation>alle %1</translation>
    </message>
    <message>
        <source>every %1 s</source>
        <translation>alle %1 s</translation>
    </message>
    <message>
        <source>the last was not saved: %1</source>
        <translation>der letzte wurde nicht gespeichert: %1</translation>
    </message>
    <message>
        <source>checkpoints</source>
        <translation>Checkpoints</translation>
    </message>
    <message>
        <source>snapshots</source>
        <translation>Snapshots</translation>
    </message>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>step %1, %2 on %3</source>
        <translation>Schritt %1, %2 auf %3</translation>
    </message>
    <message>
        <source>none yet</source>
        <translation>noch keiner</translation>
    </message>
    <message>
        <source>up to %1 on %2 while the next is taken</source>
        <translation>bis zu %1 auf %2, während der nächste entsteht</translation>
    </message>
    <message>
        <source>taken in %1</source>
        <translation>in %1 gemacht</translation>
    </message>
    <message>
        <source>lost with its node</source>
        <translation>mit seinem Knoten verloren</translation>
    </message>
    <message>
        <source>the last was given up: %1</source>
        <translation>der letzte wurde aufgegeben: %1</translation>
    </message>
    <message>
        <source>%1 of %2 alive</source>
        <translation>%1 von %2 erreichbar</translation>
    </message>
    <message>
        <source>%1, %2 idle</source>
        <translation>%1, %2 frei</translation>
    </message>
    <message>
        <source>operator</source>
        <translation>Operator</translation>
    </message>
    <message>
        <source>limit</source>
        <translation>Grenze</translation>
    </message>
    <message>
        <source>%1 (emulated link)</source>
        <translation>%1 (emulierte Leitung)</translation>
    </message>
    <message>
        <source>security</source>
        <translation>Sicherheit</translation>
    </message>
    <message>
        <source>bulk data between nodes is not encrypted (plain lanes)</source>
        <translation>Massendaten zwischen Knoten sind unverschlüsselt (offene Lanes)</translation>
    </message>
    <message>
        <source>Node %1</source>
        <translation>Knoten %1</translation>
    </message>
    <message>
        <source>Nothing to inspect</source>
        <translation>Nichts zu untersuchen</translation>
    </message>
    <message>
        <source>memory %1</source>
        <translation>Speicher %1</translation>
    </message>
    <message>
        <source>bytes to move</source>
        <translation>zu verschieben</translation>
    </message>
    <message>
        <source>checksums so far</source>
        <translation>Prüfsummen bisher</translation>
    </message>
    <message>
        <source>%1 equal</source>
        <translation>%1 gleich</translation>
    </message>
    <message>
        <source>Select a GPU to see what it holds.</source>
        <translation>Eine GPU wählen, um zu sehen, was sie hält.</translation>
    </message>
    <message>
        <source>logged by the program</source>
        <translation>vom Programm protokolliert</translation>
    </message>
    <message>
        <source>%1 full</source>
        <translation>%1 voll</translation>
    </message>
    <message>
        <source>computes %1</source>
        <translation>rechnet %1</translation>
    </message>
    <message>
        <source>waits %1</source>
        <translation>wartet %1</translation>
    </message>
    <message>
        <source>others</source>
        <translation>andere</translation>
    </message>
    <message>
        <source>rack</source>
        <translation>Rack</translation>
    </message>
    <message>
        <source>ignored</source>
        <translation>ignoriert</translation>
    </message>
    <message>
        <source>%1 unreadable messages</source>
        <translation>%1 unlesbare Nachrichten</translation>
    </message>
    <message>
        <source>kind</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>loss of any node</source>
        <translation>Verlust eines Knotens</translation>
    </message>
    <message>
        <source>State of which no other node holds a copy</source>
        <translation>Zustand, von dem kein anderer Knoten eine Kopie hält</translation>
    </message>
    <message>
        <source>corrupt frames requested again: %1</source>
        <translation>beschädigte Frames, erneut angefordert: %1</translation>
    </message>
    <message>
        <source>stray frames dropped: %1</source>
        <translation>fremde Frames, verworfen: %1</translation>
    </message>
    <message>
        <source>frames taken from another holder: %1</source>
        <translation>Frames von einem anderen Halter: %1</translation>
    </message>
    <message>
        <source>malformed messages dropped: %1</source>
        <translation>fehlerhafte Nachrichten, verworfen: %1</translation>
    </message>
    <message>
        <source>requests not admitted: %1</source>
        <translation>nicht zugelassene Anforderungen: %1</translation>
    </message>
    <message>
        <source>connections closed because too many were open: %1</source>
        <translation>Verbindungen geschlossen, weil zu viele offen waren: %1</translation>
    </message>
    <message>
        <source>%1 per step</source>
        <translation>%1 pro Schritt</translation>
    </message>
    <message>
        <source>%1 group</source>
        <translation>%1-Gruppe</translation>
    </message>
    <message>
        <source>%1 · %2</source>
        <translation>%1 · %2</translation>
    </message>
    <message>
        <source>By the cost model: each collective counts once, with the size of its operand.</source>
        <translation>Nach dem Kostenmodell: Jede kollektive Operation zählt einmal, mit der Größe ihres Operanden.</translation>
    </message>
    <message>
        <source>The program of the job decides what it sends.</source>
        <translation>Das Programm des Jobs entscheidet, was es sendet.</translation>
    </message>
    <message>
        <source>What the group sends in a step is not known yet.</source>
        <translation>Was die Gruppe in einem Schritt sendet, ist noch nicht bekannt.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::JobPlots</name>
    <message>
        <source>Loss and tokens per second over time</source>
        <translation>Loss und Tokens pro Sekunde über die Zeit</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation>Tokens/s</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation>Loss %1</translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 Tokens/s</translation>
    </message>
    <message>
        <source>no data</source>
        <translation>keine Daten</translation>
    </message>
    <message>
        <source>playhead at %1</source>
        <translation>Abspielmarke bei %1</translation>
    </message>
    <message>
        <source>%1 over time</source>
        <translation>%1 über die Zeit</translation>
    </message>
    <message>
        <source>gradient norm</source>
        <translation>Gradientennorm</translation>
    </message>
    <message>
        <source>A</source>
        <comment>the first of two moments</comment>
        <translation>A</translation>
    </message>
    <message>
        <source>%1 per step</source>
        <translation>%1 pro Schritt</translation>
    </message>
    <message>
        <source>%1 computes %2</source>
        <comment>n0g1 computes 0.25 s</comment>
        <translation>%1 rechnet %2</translation>
    </message>
    <message>
        <source>selected GPUs show what they compute</source>
        <translation>ausgewählte GPUs zeigen, wie lange sie rechnen</translation>
    </message>
    <message>
        <source>what GPUs compute is seen only while the panel is connected</source>
        <translation>wie lange GPUs rechnen, ist nur zu sehen, solange das Panel verbunden ist</translation>
    </message>
    <message>
        <source>step time, s</source>
        <translation>Schrittzeit, s</translation>
    </message>
</context>
<context>
    <name>tessera::ui::Legend</name>
    <message>
        <source>Scale: %1</source>
        <translation>Maßstab: %1</translation>
    </message>
    <message>
        <source>Shards: %1</source>
        <translation>Shards: %1</translation>
    </message>
    <message>
        <source>Click an entry to fade the others.</source>
        <translation>Ein Klick auf einen Eintrag blendet die anderen ab.</translation>
    </message>
    <message>
        <source>+%1</source>
        <translation>+%1</translation>
    </message>
</context>
<context>
    <name>tessera::ui::LessonList</name>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>%1, finished</source>
        <translation>%1, abgeschlossen</translation>
    </message>
    <message>
        <source>%1, step %2 of %3</source>
        <translation>%1, Schritt %2 von %3</translation>
    </message>
    <message>
        <source>%1 of %2 finished</source>
        <translation>%1 von %2 abgeschlossen</translation>
    </message>
</context>
<context>
    <name>tessera::ui::LessonPane</name>
    <message>
        <source>All lessons</source>
        <translation>Lektionen</translation>
    </message>
    <message>
        <source>Return to the lesson</source>
        <translation>Zurück zur Lektion</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>Start over</source>
        <translation>Neu</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>Open the experiment…</source>
        <translation>Experiment öffnen…</translation>
    </message>
    <message>
        <source>Lesson</source>
        <translation>Lektion</translation>
    </message>
    <message>
        <source>Text of the step</source>
        <translation>Text des Schritts</translation>
    </message>
    <message>
        <source>Show the list of lessons</source>
        <translation>Die Liste der Lektionen zeigen</translation>
    </message>
    <message>
        <source>Check the answer, or show the next step (Space, →, Page Down)</source>
        <translation>Die Antwort prüfen oder den nächsten Schritt zeigen (Leertaste, →, Bild ab)</translation>
    </message>
    <message>
        <source>Show the step before (←, Page Up)</source>
        <translation>Den vorigen Schritt zeigen (←, Bild auf)</translation>
    </message>
    <message>
        <source>Show this step again, without your draft and your answer</source>
        <translation>Diesen Schritt neu zeigen, ohne Entwurf und Antwort</translation>
    </message>
    <message>
        <source>The step of the lesson</source>
        <translation>Der Schritt der Lektion</translation>
    </message>
    <message>
        <source>Lessons</source>
        <translation>Lektionen</translation>
    </message>
    <message>
        <source>Lesson from a file</source>
        <translation>Lektion aus einer Datei</translation>
    </message>
    <message>
        <source>Lesson %1 of %2</source>
        <translation>Lektion %1 von %2</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <source>Choose an answer first.</source>
        <translation>Zuerst eine Antwort wählen.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::LessonQuestionCard</name>
    <message>
        <source>Your answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>✓ Right: %1</source>
        <translation>✓ Richtig: %1</translation>
    </message>
    <message>
        <source>The answer is %1.</source>
        <translation>Die Antwort ist %1.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::LessonRecords</name>
    <message>
        <source>The progress of the lessons could not be read. It begins again; the old file is %1.</source>
        <translation>Der Fortschritt der Lektionen konnte nicht gelesen werden. Er beginnt neu; die alte Datei ist %1.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::LessonSession</name>
    <message>
        <source>This is the last step.</source>
        <translation>Dies ist der letzte Schritt.</translation>
    </message>
    <message>
        <source>Answer the question first.</source>
        <translation>Zuerst die Frage beantworten.</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>The bytes of the lesson are still moving.</source>
        <translation>Die Bytes der Lektion bewegen sich noch.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::LessonSteps</name>
    <message>
        <source>Step %1 of %2</source>
        <translation>Schritt %1 von %2</translation>
    </message>
</context>
<context>
    <name>tessera::ui::LessonTaskCard</name>
    <message>
        <source>at most</source>
        <translation>höchstens</translation>
    </message>
    <message>
        <source>at least</source>
        <translation>mindestens</translation>
    </message>
    <message>
        <source>less than</source>
        <translation>weniger als</translation>
    </message>
    <message>
        <source>more than</source>
        <translation>mehr als</translation>
    </message>
    <message>
        <source>exactly</source>
        <translation>genau</translation>
    </message>
    <message>
        <source>%1: %2 %3</source>
        <translation>%1: %2 %3</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>%1: %2, must be %3 %4</source>
        <translation>%1: %2, verlangt %3 %4</translation>
    </message>
    <message>
        <source>Your task</source>
        <translation>Aufgabe</translation>
    </message>
    <message>
        <source>ZeRO</source>
        <translation>ZeRO</translation>
    </message>
    <message>
        <source>micro-batch</source>
        <translation>Micro-Batch</translation>
    </message>
    <message>
        <source>auto</source>
        <translation>auto</translation>
    </message>
    <message>
        <source>Samples of a micro-batch</source>
        <translation>Samples eines Micro-Batches</translation>
    </message>
    <message>
        <source>Cut the optimizer state over the replicas</source>
        <translation>Den Optimizer-Zustand über die Replikate schneiden</translation>
    </message>
    <message>
        <source>Free play</source>
        <translation>Freies Spiel</translation>
    </message>
    <message>
        <source>This draft is your own. **Start over** shows the step again.</source>
        <translation>Dieser Entwurf ist frei. **Neu** zeigt den Schritt von vorn.</translation>
    </message>
    <message>
        <source>Hint: %1</source>
        <translation>Tipp: %1</translation>
    </message>
    <message>
        <source>The plan moves %1, of which %2 over the network; pause ≈ %3.</source>
        <translation>Der Plan bewegt %1, davon %2 über das Netzwerk; Pause ≈ %3.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::LinkCanvas</name>
    <message>
        <source>Bytes between nodes</source>
        <translation>Bytes zwischen Knoten</translation>
    </message>
    <message>
        <source>Bytes between GPUs</source>
        <translation>Bytes zwischen GPUs</translation>
    </message>
    <message>
        <source>to</source>
        <translation>nach</translation>
    </message>
    <message>
        <source>from</source>
        <translation>von</translation>
    </message>
    <message>
        <source>sends</source>
        <translation>sendet</translation>
    </message>
    <message>
        <source>receives</source>
        <translation>empfängt</translation>
    </message>
</context>
<context>
    <name>tessera::ui::LinkTableModel</name>
    <message>
        <source>tensor</source>
        <translation>Tensor</translation>
    </message>
    <message>
        <source>range</source>
        <translation>Bereich</translation>
    </message>
    <message>
        <source>from</source>
        <translation>von</translation>
    </message>
    <message>
        <source>to</source>
        <translation>nach</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <source>done</source>
        <translation>fertig</translation>
    </message>
    <message>
        <source>rate</source>
        <translation>Rate</translation>
    </message>
    <message>
        <source>left</source>
        <translation>übrig</translation>
    </message>
    <message>
        <source>time until the flow is done, at the rates of the last seconds</source>
        <translation>Zeit, bis der Fluss fertig ist, bei den Raten der letzten Sekunden</translation>
    </message>
    <message>
        <source>state</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>elements %1</source>
        <translation>Elemente %1</translation>
    </message>
    <message>
        <source>rows %1</source>
        <translation>Zeilen %1</translation>
    </message>
    <message>
        <source>columns %1</source>
        <translation>Spalten %1</translation>
    </message>
    <message>
        <source>dim %1: %2</source>
        <translation>Dim %1: %2</translation>
    </message>
    <message>
        <source>whole</source>
        <translation>ganz</translation>
    </message>
    <message>
        <source>%1 bytes</source>
        <translation>%1 Bytes</translation>
    </message>
    <message>
        <source>%1 of %2 bytes</source>
        <translation>%1 von %2 Bytes</translation>
    </message>
    <message>
        <source>stalled: nothing has arrived for 3 s</source>
        <translation>stockt: seit 3 s ist nichts angekommen</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>wartet</translation>
    </message>
    <message>
        <source>moving</source>
        <translation>bewegt sich</translation>
    </message>
    <message>
        <source>stalled</source>
        <translation>stockt</translation>
    </message>
    <message>
        <source>reason</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source>why the flow stalls, is sent again or comes from another GPU</source>
        <translation>warum der Fluss stockt, wiederholt wird oder von einer anderen GPU kommt</translation>
    </message>
</context>
<context>
    <name>tessera::ui::LinkWords</name>
    <message>
        <source>%1 in</source>
        <comment>a port</comment>
        <translation>Eingang von %1</translation>
    </message>
    <message>
        <source>%1 out</source>
        <comment>a port</comment>
        <translation>Ausgang von %1</translation>
    </message>
    <message>
        <source>%1: the busiest port; no plan can load it less (bound %2)</source>
        <translation>%1: der meistbelastete Port; kein Plan kann ihn weniger belasten (Schranke %2)</translation>
    </message>
    <message>
        <source>%1: the busiest port; no plan without relays can load it less (bound %2)</source>
        <translation>%1: der meistbelastete Port; kein Plan ohne Weiterleitung kann ihn weniger belasten (Schranke %2)</translation>
    </message>
    <message>
        <source>%1: the busiest port, %2 more than the bound of %3</source>
        <translation>%1: der meistbelastete Port, %2 mehr als die Schranke von %3</translation>
    </message>
    <message>
        <source>less than 1 %</source>
        <translation>weniger als 1 %</translation>
    </message>
    <message>
        <source>%1: the busiest port, %2</source>
        <translation>%1: der meistbelastete Port, %2</translation>
    </message>
    <message>
        <source>inside %1</source>
        <translation>in %1</translation>
    </message>
    <message>
        <source>%1 → %2</source>
        <translation>%1 → %2</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <comment>from a node to another</comment>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <source>%1: nothing</source>
        <translation>%1: nichts</translation>
    </message>
    <message>
        <source>%1: %2 in %3</source>
        <translation>%1: %2 in %3</translation>
    </message>
    <message>
        <source>, stalled at %1</source>
        <translation>, stockt bei %1</translation>
    </message>
    <message>
        <source>, %1 done</source>
        <translation>, %1 fertig</translation>
    </message>
    <message>
        <source>, %1 is lost</source>
        <translation>, %1 ist verloren</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>%1 sends %2 and receives %3</source>
        <translation>%1 sendet %2 und empfängt %3</translation>
    </message>
    <message>
        <source>; %1 inside it</source>
        <translation>; %1 darin</translation>
    </message>
    <message>
        <source>1 flow</source>
        <translation>1 Fluss</translation>
    </message>
    <message>
        <source>%1 flows</source>
        <translation>%1 Flüsse</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <source>%1, alone ≈ %2</source>
        <translation>%1, allein ≈ %2</translation>
    </message>
</context>
<context>
    <name>tessera::ui::LinksView</name>
    <message>
        <source>Export…</source>
        <translation>Exportieren…</translation>
    </message>
    <message>
        <source>planned</source>
        <translation>geplant</translation>
    </message>
    <message>
        <source>Planned links</source>
        <translation>Geplante Leitungen</translation>
    </message>
    <message>
        <source>Show what the draft would move</source>
        <translation>Zeigen, was der Entwurf bewegen würde</translation>
    </message>
    <message>
        <source>moving</source>
        <translation>laufend</translation>
    </message>
    <message>
        <source>Moving links</source>
        <translation>Leitungen in Bewegung</translation>
    </message>
    <message>
        <source>Show what the running change moves</source>
        <translation>Zeigen, was die laufende Änderung bewegt</translation>
    </message>
    <message>
        <source>past</source>
        <translation>vergangen</translation>
    </message>
    <message>
        <source>Past links</source>
        <translation>Vergangene Leitungen</translation>
    </message>
    <message>
        <source>Show what the selected (or latest) change of the history moved</source>
        <translation>Zeigen, was die gewählte (oder letzte) Änderung des Verlaufs bewegt hat</translation>
    </message>
    <message>
        <source>nodes</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <source>Links between nodes</source>
        <translation>Leitungen zwischen Knoten</translation>
    </message>
    <message>
        <source>Show the bytes from node to node</source>
        <translation>Die Bytes von Knoten zu Knoten zeigen</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPUs</translation>
    </message>
    <message>
        <source>Links between GPUs</source>
        <translation>Leitungen zwischen GPUs</translation>
    </message>
    <message>
        <source>Show the bytes from GPU to GPU</source>
        <translation>Die Bytes von GPU zu GPU zeigen</translation>
    </message>
    <message>
        <source>Export the rows of the link</source>
        <translation>Die Zeilen der Leitung exportieren</translation>
    </message>
    <message>
        <source>Save the rows as CSV or JSON</source>
        <translation>Die Zeilen als CSV oder JSON speichern</translation>
    </message>
    <message>
        <source>What the link carries</source>
        <translation>Was die Leitung trägt</translation>
    </message>
    <message>
        <source>No job is running.</source>
        <translation>Kein Job läuft.</translation>
    </message>
    <message>
        <source>The plan of the draft is being made, or the draft cannot be planned.</source>
        <translation>Der Plan des Entwurfs entsteht gerade, oder der Entwurf lässt sich nicht planen.</translation>
    </message>
    <message>
        <source>Nothing would move between GPUs. %1 would be read from snapshots or checkpoints.</source>
        <translation>Zwischen GPUs würde sich nichts bewegen. %1 würden aus Snapshots oder Checkpoints gelesen.</translation>
    </message>
    <message>
        <source>Nothing would move.</source>
        <translation>Nichts würde sich bewegen.</translation>
    </message>
    <message>
        <source>The running change moves nothing between GPUs.</source>
        <translation>Die laufende Änderung bewegt nichts zwischen GPUs.</translation>
    </message>
    <message>
        <source>Nothing is moving. Draft a change to see its links, or choose one in the history.</source>
        <translation>Nichts bewegt sich. Eine Änderung entwerfen oder im Verlauf wählen, um ihre Leitungen zu sehen.</translation>
    </message>
    <message>
        <source>The history contains no flows of this change.</source>
        <translation>Der Verlauf enthält keine Flüsse dieser Änderung.</translation>
    </message>
    <message>
        <source>There was no change before this moment.</source>
        <translation>Vor diesem Moment gab es keine Änderung.</translation>
    </message>
    <message>
        <source>Choose a change in the history to see its links.</source>
        <translation>Im Verlauf eine Änderung wählen, um ihre Leitungen zu sehen.</translation>
    </message>
    <message>
        <source>With more than %1 GPUs the links are between nodes.</source>
        <translation>Bei mehr als %1 GPUs sind die Leitungen zwischen Knoten.</translation>
    </message>
    <message>
        <source>planning…</source>
        <translation>wird geplant…</translation>
    </message>
    <message>
        <source>change %1</source>
        <translation>Änderung %1</translation>
    </message>
    <message>
        <source>%1 from snapshots or checkpoints</source>
        <translation>%1 aus Snapshots oder Checkpoints</translation>
    </message>
    <message>
        <source>colour: bytes of the link, 0 to %1</source>
        <translation>Farbe: Bytes der Leitung, 0 bis %1</translation>
    </message>
    <message>
        <source>carries</source>
        <translation>trägt</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>flows</source>
        <translation>Flüsse</translation>
    </message>
    <message>
        <source>done</source>
        <translation>fertig</translation>
    </message>
    <message>
        <source>rate</source>
        <translation>Rate</translation>
    </message>
    <message>
        <source>stalled</source>
        <translation>stockt</translation>
    </message>
    <message>
        <source>bandwidth</source>
        <translation>Bandbreite</translation>
    </message>
    <message>
        <source>known from</source>
        <translation>bekannt aus</translation>
    </message>
    <message>
        <source>time if alone</source>
        <translation>Zeit allein</translation>
    </message>
    <message>
        <source>All links</source>
        <translation>Alle Leitungen</translation>
    </message>
    <message>
        <source>%1 in %2</source>
        <comment>bytes in flows</comment>
        <translation>%1 in %2</translation>
    </message>
    <message>
        <source>%1 · choose a link to see what it carries</source>
        <translation>%1 · eine Leitung wählen, um zu sehen, was sie trägt</translation>
    </message>
    <message>
        <source>reading the tensors…</source>
        <translation>Tensoren werden gelesen…</translation>
    </message>
    <message>
        <source>1 move</source>
        <translation>1 Bewegung</translation>
    </message>
    <message>
        <source>%1 moves</source>
        <translation>%1 Bewegungen</translation>
    </message>
    <message>
        <source>CSV tables (*.csv);;JSON (*.json)</source>
        <translation>CSV-Tabellen (*.csv);;JSON (*.json)</translation>
    </message>
    <message>
        <source>%1 was written</source>
        <translation>%1 wurde geschrieben</translation>
    </message>
    <message>
        <source>Links</source>
        <translation>Leitungen</translation>
    </message>
    <message>
        <source>Show the bytes from node to node of a draft, a running or a past change</source>
        <translation>Die Bytes von Knoten zu Knoten zeigen: eines Entwurfs, einer laufenden oder vergangenen Änderung</translation>
    </message>
    <message>
        <source>Lin&amp;ks</source>
        <translation>Leit&amp;ungen</translation>
    </message>
</context>
<context>
    <name>tessera::ui::LogDialog</name>
    <message>
        <source>Follow</source>
        <translation>Folgen</translation>
    </message>
    <message>
        <source>command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Copy as command</source>
        <translation>Als Befehl kopieren</translation>
    </message>
    <message>
        <source>Logs</source>
        <translation>Protokolle</translation>
    </message>
    <message>
        <source>Node or rank</source>
        <translation>Knoten oder Rank</translation>
    </message>
    <message>
        <source>Least severity</source>
        <translation>Geringste Schwere</translation>
    </message>
    <message>
        <source>all lines</source>
        <translation>alle Zeilen</translation>
    </message>
    <message>
        <source>warnings and errors</source>
        <translation>Warnungen und Fehler</translation>
    </message>
    <message>
        <source>errors</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>Filter</translation>
    </message>
    <message>
        <source>Filter of the lines</source>
        <translation>Filter der Zeilen</translation>
    </message>
    <message>
        <source>Follow new lines</source>
        <translation>Neuen Zeilen folgen</translation>
    </message>
    <message>
        <source>Read new lines every second and keep the last one in sight</source>
        <translation>Jede Sekunde neue Zeilen lesen und die letzte sichtbar halten</translation>
    </message>
    <message>
        <source>Lines of the log</source>
        <translation>Zeilen des Protokolls</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy the lines that are shown</source>
        <translation>Die gezeigten Zeilen kopieren</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>agent of %1</source>
        <translation>Agent von %1</translation>
    </message>
    <message>
        <source>rank %1 of %2, %3</source>
        <translation>Rank %1 von %2, %3</translation>
    </message>
    <message>
        <source>The cluster has no node.</source>
        <translation>Der Cluster hat keinen Knoten.</translation>
    </message>
    <message>
        <source>The lines of %1 could not be read: %2.</source>
        <translation>Die Zeilen von %1 konnten nicht gelesen werden: %2.</translation>
    </message>
    <message>
        <source>Reading the lines of %1…</source>
        <translation>Zeilen von %1 werden gelesen…</translation>
    </message>
    <message>
        <source>%1 has written nothing yet.</source>
        <translation>%1 hat noch nichts geschrieben.</translation>
    </message>
    <message>
        <source>1 line</source>
        <translation>1 Zeile</translation>
    </message>
    <message>
        <source>%1 lines</source>
        <translation>%1 Zeilen</translation>
    </message>
    <message>
        <source>%1 of %2 lines</source>
        <translation>%1 von %2 Zeilen</translation>
    </message>
</context>
<context>
    <name>tessera::ui::MainWindow</name>
    <message>
        <source>Select a GPU first.</source>
        <translation>Zuerst eine GPU wählen.</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation>&amp;Rückgängig</translation>
    </message>
    <message>
        <source>Undo the last edit of the draft</source>
        <translation>Den letzten Schritt des Entwurfs rückgängig machen</translation>
    </message>
    <message>
        <source>There is nothing to undo.</source>
        <translation>Es gibt nichts rückgängig zu machen.</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>&amp;Wiederholen</translation>
    </message>
    <message>
        <source>Redo the edit that was undone</source>
        <translation>Den rückgängig gemachten Schritt wiederholen</translation>
    </message>
    <message>
        <source>There is nothing to redo.</source>
        <translation>Es gibt nichts zu wiederholen.</translation>
    </message>
    <message>
        <source>&amp;Add or Remove</source>
        <translation>&amp;Hinzufügen oder entfernen</translation>
    </message>
    <message>
        <source>Add the selected GPUs to the draft, or remove them</source>
        <translation>Die gewählten GPUs zum Entwurf hinzufügen oder daraus entfernen</translation>
    </message>
    <message>
        <source>Select the &amp;Node</source>
        <translation>&amp;Knoten auswählen</translation>
    </message>
    <message>
        <source>Select all GPUs of the current GPU&apos;s node</source>
        <translation>Alle GPUs des Knotens der aktuellen GPU auswählen</translation>
    </message>
    <message>
        <source>&amp;Step Back</source>
        <translation>&amp;Schritt zurück</translation>
    </message>
    <message>
        <source>Stop the countdown, or clear the selection, or show Live. A change in progress continues</source>
        <translation>Countdown anhalten, Auswahl aufheben oder Live zeigen. Eine laufende Änderung geht weiter</translation>
    </message>
    <message>
        <source>&amp;Go To…</source>
        <translation>&amp;Gehe zu…</translation>
    </message>
    <message>
        <source>Find an action, a GPU, a node, a job, a change or an event</source>
        <translation>Aktion, GPU, Knoten, Job, Änderung oder Ereignis finden</translation>
    </message>
    <message>
        <source>This panel has no profiles.</source>
        <translation>Dieses Panel hat keine Profile.</translation>
    </message>
    <message>
        <source>&amp;Connect…</source>
        <translation>&amp;Verbinden…</translation>
    </message>
    <message>
        <source>Test, connect to or add a cluster</source>
        <translation>Einen Cluster testen, verbinden oder hinzufügen</translation>
    </message>
    <message>
        <source>Start &amp;Local Cluster</source>
        <translation>&amp;Lokalen Cluster starten</translation>
    </message>
    <message>
        <source>Start 2 nodes with 4 emulated GPUs each on this machine and connect to them</source>
        <translation>2 Knoten mit je 4 emulierten GPUs auf diesem Rechner starten und damit verbinden</translation>
    </message>
    <message>
        <source>A local cluster is already starting.</source>
        <translation>Ein lokaler Cluster startet bereits.</translation>
    </message>
    <message>
        <source>Simulate a Clus&amp;ter…</source>
        <translation>&amp;Cluster simulieren…</translation>
    </message>
    <message>
        <source>Start a simulated cluster of up to 4,096 GPUs and connect to it</source>
        <translation>Einen simulierten Cluster mit bis zu 4.096 GPUs starten und damit verbinden</translation>
    </message>
    <message>
        <source>A cluster is already starting.</source>
        <translation>Ein Cluster startet bereits.</translation>
    </message>
    <message>
        <source>Open &amp;History File…</source>
        <translation>Verlaufs&amp;datei öffnen…</translation>
    </message>
    <message>
        <source>Show changes, events and plots from a file instead of a cluster</source>
        <translation>Änderungen, Ereignisse und Kurven aus einer Datei statt von einem Cluster zeigen</translation>
    </message>
    <message>
        <source>&amp;Settings…</source>
        <translation>&amp;Einstellungen…</translation>
    </message>
    <message>
        <source>Change colours, size, safety, data and shortcuts</source>
        <translation>Sprache, Farben, Größe, Sicherheit, Daten und Tastenkürzel ändern</translation>
    </message>
    <message>
        <source>Save &amp;Picture…</source>
        <translation>B&amp;ild speichern…</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>Close the panel. The job and its cluster keep running</source>
        <translation>Das Panel schließen. Job und Cluster laufen weiter</translation>
    </message>
    <message>
        <source>&amp;Guide</source>
        <translation>&amp;Handbuch</translation>
    </message>
    <message>
        <source>Read about the first hour, the mesh, changes, your own job and real clusters</source>
        <translation>Über die erste Stunde, das Mesh, Änderungen, eigene Jobs und echte Cluster lesen (englisch)</translation>
    </message>
    <message>
        <source>&amp;Troubleshooting</source>
        <translation>&amp;Fehlersuche</translation>
    </message>
    <message>
        <source>Look up error messages and what to do about them</source>
        <translation>Fehlermeldungen nachschlagen und was dagegen hilft (englisch)</translation>
    </message>
    <message>
        <source>&amp;Shortcuts</source>
        <translation>&amp;Tastenkürzel</translation>
    </message>
    <message>
        <source>List every action and its keys</source>
        <translation>Jede Aktion mit ihren Tasten auflisten</translation>
    </message>
    <message>
        <source>&amp;About Tessera</source>
        <translation>&amp;Über Tessera</translation>
    </message>
    <message>
        <source>Show the version and the licences</source>
        <translation>Version und Lizenzen zeigen</translation>
    </message>
    <message>
        <source>There is no cluster to show.</source>
        <translation>Es gibt keinen Cluster zu zeigen.</translation>
    </message>
    <message>
        <source>Draft an &amp;Undo…</source>
        <translation>&amp;Rücknahme entwerfen…</translation>
    </message>
    <message>
        <source>Draft an undo of the selected (or latest) change</source>
        <translation>Eine Rücknahme der gewählten (oder letzten) Änderung entwerfen</translation>
    </message>
    <message>
        <source>There is no change to undo.</source>
        <translation>Es gibt keine Änderung zurückzunehmen.</translation>
    </message>
    <message>
        <source>Re&amp;load</source>
        <translation>&amp;Neu laden</translation>
    </message>
    <message>
        <source>Read the history from the cluster again</source>
        <translation>Den Verlauf erneut vom Cluster lesen</translation>
    </message>
    <message>
        <source>E&amp;xport Plots…</source>
        <translation>&amp;Kurven exportieren…</translation>
    </message>
    <message>
        <source>Save the plots as PNG or SVG, or their samples as CSV or JSON</source>
        <translation>Die Kurven als PNG oder SVG oder ihre Messwerte als CSV oder JSON speichern</translation>
    </message>
    <message>
        <source>&amp;Save Report…</source>
        <translation>&amp;Bericht speichern…</translation>
    </message>
    <message>
        <source>Save the selected (or latest) change as a page with pictures, a table or JSON</source>
        <translation>Die gewählte (oder letzte) Änderung als Seite mit Bildern, als Tabelle oder als JSON speichern</translation>
    </message>
    <message>
        <source>There is no finished change.</source>
        <translation>Es gibt keine abgeschlossene Änderung.</translation>
    </message>
    <message>
        <source>No lesson is shown.</source>
        <translation>Keine Lektion wird gezeigt.</translation>
    </message>
    <message>
        <source>%1  %2</source>
        <translation>%1  %2</translation>
    </message>
    <message>
        <source>&amp;All Lessons</source>
        <translation>&amp;Alle Lektionen</translation>
    </message>
    <message>
        <source>Show the list of lessons and what you have finished</source>
        <translation>Die Liste der Lektionen zeigen und was abgeschlossen ist</translation>
    </message>
    <message>
        <source>&amp;Open Lesson File…</source>
        <translation>&amp;Lektionsdatei öffnen…</translation>
    </message>
    <message>
        <source>Open a lesson that you wrote; it is read again when you save it</source>
        <translation>Eine selbst geschriebene Lektion öffnen; sie wird bei jedem Speichern neu gelesen</translation>
    </message>
    <message>
        <source>&amp;Next Step</source>
        <translation>&amp;Nächster Schritt</translation>
    </message>
    <message>
        <source>Check the answer, or show the next step of the lesson</source>
        <translation>Die Antwort prüfen oder den nächsten Schritt der Lektion zeigen</translation>
    </message>
    <message>
        <source>Step &amp;Back</source>
        <translation>&amp;Voriger Schritt</translation>
    </message>
    <message>
        <source>Show the step before, exactly as it was</source>
        <translation>Den vorigen Schritt genau so zeigen, wie er war</translation>
    </message>
    <message>
        <source>&amp;Start the Step Over</source>
        <translation>Schritt neu &amp;beginnen</translation>
    </message>
    <message>
        <source>Show this step again, without your draft and your answer</source>
        <translation>Diesen Schritt neu zeigen, ohne Entwurf und Antwort</translation>
    </message>
    <message>
        <source>&amp;Experiment: Keeping the Position in the Data…</source>
        <translation>&amp;Experiment: Position in den Daten behalten…</translation>
    </message>
    <message>
        <source>Train a job three times on this machine, right and wrong, and see what a change of GPUs can cost</source>
        <translation>Einen Job dreimal auf diesem Rechner trainieren, richtig und falsch, und sehen, was ein Wechsel der GPUs kosten kann</translation>
    </message>
    <message>
        <source>This panel cannot start programs on this machine.</source>
        <translation>Dieses Panel kann auf diesem Rechner keine Programme starten.</translation>
    </message>
    <message>
        <source>&amp;Apply…</source>
        <translation>&amp;Anwenden…</translation>
    </message>
    <message>
        <source>Carry out the plan of the draft</source>
        <translation>Den Plan des Entwurfs ausführen</translation>
    </message>
    <message>
        <source>The draft is empty.</source>
        <translation>Der Entwurf ist leer.</translation>
    </message>
    <message>
        <source>&amp;Discard the Draft</source>
        <translation>Entwurf &amp;verwerfen</translation>
    </message>
    <message>
        <source>Return to the live layout. Undo restores the draft</source>
        <translation>Zum Live-Layout zurückkehren. Rückgängig stellt den Entwurf wieder her</translation>
    </message>
    <message>
        <source>&amp;Copy as Command</source>
        <translation>Als Befehl &amp;kopieren</translation>
    </message>
    <message>
        <source>Copy the command line for the same plan</source>
        <translation>Die Befehlszeile für denselben Plan kopieren</translation>
    </message>
    <message>
        <source>Cancel and &amp;Roll Back</source>
        <translation>Abbrechen und &amp;zurückrollen</translation>
    </message>
    <message>
        <source>Cancel the change in progress. Before the commit nothing is lost</source>
        <translation>Die laufende Änderung abbrechen. Vor dem Commit geht nichts verloren</translation>
    </message>
    <message>
        <source>No change is in progress.</source>
        <translation>Keine Änderung läuft.</translation>
    </message>
    <message>
        <source>The change is already committed.</source>
        <translation>Die Änderung ist bereits festgeschrieben.</translation>
    </message>
    <message>
        <source>&amp;Limit the Rate…</source>
        <translation>Rate &amp;begrenzen…</translation>
    </message>
    <message>
        <source>Limit what each node sends and receives for the change in progress</source>
        <translation>Begrenzen, was jeder Knoten für die laufende Änderung sendet und empfängt</translation>
    </message>
    <message>
        <source>Limit the rate</source>
        <translation>Rate begrenzen</translation>
    </message>
    <message>
        <source>MB/s that each node sends and receives; 0: no limit</source>
        <translation>MB/s, die jeder Knoten sendet und empfängt; 0: keine Grenze</translation>
    </message>
    <message>
        <source>The rate was not limited: %1.</source>
        <translation>Die Rate wurde nicht begrenzt: %1.</translation>
    </message>
    <message>
        <source>&amp;Live</source>
        <translation>&amp;Live</translation>
    </message>
    <message>
        <source>Show the layout that the agents report</source>
        <translation>Das Layout zeigen, das die Agenten melden</translation>
    </message>
    <message>
        <source>&amp;Draft</source>
        <translation>&amp;Entwurf</translation>
    </message>
    <message>
        <source>Show and edit the draft of a layout. Nothing moves</source>
        <translation>Den Entwurf eines Layouts zeigen und bearbeiten. Nichts bewegt sich</translation>
    </message>
    <message>
        <source>Show the GPUs and the job at an earlier moment</source>
        <translation>GPUs und Job zu einem früheren Zeitpunkt zeigen</translation>
    </message>
    <message>
        <source>L&amp;esson</source>
        <translation>Lekt&amp;ion</translation>
    </message>
    <message>
        <source>Show the open lesson, or the next one, on a simulated cluster</source>
        <translation>Die geöffnete oder die nächste Lektion auf einem simulierten Cluster zeigen</translation>
    </message>
    <message>
        <source>Show static arrows instead of moving dots</source>
        <translation>Feste Pfeile statt bewegter Punkte zeigen</translation>
    </message>
    <message>
        <source>Pro&amp;jector Mode</source>
        <translation>Pro&amp;jektormodus</translation>
    </message>
    <message>
        <source>Move the keyboard focus to the next pane</source>
        <translation>Den Tastaturfokus in den nächsten Bereich setzen</translation>
    </message>
    <message>
        <source>Pre&amp;vious Pane</source>
        <translation>Voriger Berei&amp;ch</translation>
    </message>
    <message>
        <source>Move the keyboard focus to the previous pane</source>
        <translation>Den Tastaturfokus in den vorigen Bereich setzen</translation>
    </message>
    <message>
        <source>Filter the shown view, or else the events</source>
        <translation>Die gezeigte Ansicht filtern, sonst die Ereignisse</translation>
    </message>
    <message>
        <source>&amp;Navigator</source>
        <translation>Navigat&amp;or</translation>
    </message>
    <message>
        <source>In&amp;spector and Plan</source>
        <translation>Ins&amp;pektor und Plan</translation>
    </message>
    <message>
        <source>&amp;History and Events</source>
        <translation>Verlauf u&amp;nd Ereignisse</translation>
    </message>
    <message>
        <source>Show or hide this pane</source>
        <translation>Diesen Bereich zeigen oder verbergen</translation>
    </message>
    <message>
        <source>Flo&amp;ws</source>
        <translation>Fl&amp;üsse</translation>
    </message>
    <message>
        <source>Show the flows of the change in progress, the slowest first</source>
        <translation>Die Flüsse der laufenden Änderung zeigen, die langsamsten zuerst</translation>
    </message>
    <message>
        <source>No change has run since the panel connected.</source>
        <translation>Keine Änderung ist gelaufen, seit das Panel verbunden ist.</translation>
    </message>
    <message>
        <source>Show every pane, to run and change jobs</source>
        <translation>Alle Bereiche zeigen, um Jobs auszuführen und zu ändern</translation>
    </message>
    <message>
        <source>Show a large mesh with its side pane, for a projector</source>
        <translation>Ein großes Mesh mit Seitenbereich zeigen, für einen Projektor</translation>
    </message>
    <message>
        <source>Show tall plots, history and events</source>
        <translation>Hohe Kurven, Verlauf und Ereignisse zeigen</translation>
    </message>
    <message>
        <source>Restore the default place and size of every pane</source>
        <translation>Ort und Größe jedes Bereichs wie am Anfang</translation>
    </message>
    <message>
        <source>S&amp;ystem Colours</source>
        <translation>Farben wie das S&amp;ystem</translation>
    </message>
    <message>
        <source>Li&amp;ght Colours</source>
        <translation>&amp;Helle Farben</translation>
    </message>
    <message>
        <source>Choose the colours of the panel</source>
        <translation>Die Farben des Panels wählen</translation>
    </message>
    <message>
        <source>Change %1 cannot be undone: %2.</source>
        <translation>Änderung %1 lässt sich nicht zurücknehmen: %2.</translation>
    </message>
    <message>
        <source>Change %1 belongs to job %2, which is not the job shown.</source>
        <translation>Änderung %1 gehört zu Job %2, der nicht der gezeigte ist.</translation>
    </message>
    <message>
        <source>undo change %1</source>
        <translation>Änderung %1 zurücknehmen</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>A change is in progress</source>
        <translation>Eine Änderung läuft</translation>
    </message>
    <message>
        <source>The state of %1 is being transferred.</source>
        <translation>Der Zustand von %1 wird übertragen.</translation>
    </message>
    <message>
        <source>Roll back and quit</source>
        <translation>Zurückrollen und beenden</translation>
    </message>
    <message>
        <source>Keep the window open</source>
        <translation>Fenster offen lassen</translation>
    </message>
    <message>
        <source>Main</source>
        <translation>Hauptleiste</translation>
    </message>
    <message>
        <source>Views of the job</source>
        <translation>Ansichten des Jobs</translation>
    </message>
    <message>
        <source>Navigator</source>
        <translation>Navigator</translation>
    </message>
    <message>
        <source>Inspector and plan</source>
        <translation>Inspektor und Plan</translation>
    </message>
    <message>
        <source>Timeline and history</source>
        <translation>Zeitachse und Verlauf</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>Zeitachse</translation>
    </message>
    <message>
        <source>History</source>
        <translation>Verlauf</translation>
    </message>
    <message>
        <source>Flows</source>
        <translation>Flüsse</translation>
    </message>
    <message>
        <source>History and events</source>
        <translation>Verlauf und Ereignisse</translation>
    </message>
    <message>
        <source>Progress of the change</source>
        <translation>Fortschritt der Änderung</translation>
    </message>
    <message>
        <source>%1 in %2 after the drop</source>
        <translation>%1 in %2 nach dem Ablegen</translation>
    </message>
    <message>
        <source>Change %1 is not in the history yet.</source>
        <translation>Änderung %1 ist noch nicht im Verlauf.</translation>
    </message>
    <message>
        <source>undo the last change</source>
        <translation>die letzte Änderung zurücknehmen</translation>
    </message>
    <message>
        <source>repeat the last change</source>
        <translation>die letzte Änderung wiederholen</translation>
    </message>
    <message>
        <source>Open a lesson</source>
        <translation>Lektion öffnen</translation>
    </message>
    <message>
        <source>Lessons (*.json);;All files (*)</source>
        <translation>Lektionen (*.json);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>%1 needs a decision</source>
        <translation>%1 braucht eine Entscheidung</translation>
    </message>
    <message>
        <source>Save the report of change %1</source>
        <translation>Den Bericht über Änderung %1 speichern</translation>
    </message>
    <message>
        <source>Report with pictures (*.html);;Table (*.csv);;JSON (*.json)</source>
        <translation>Bericht mit Bildern (*.html);;Tabelle (*.csv);;JSON (*.json)</translation>
    </message>
    <message>
        <source>The report is in %1.</source>
        <translation>Der Bericht ist in %1.</translation>
    </message>
    <message>
        <source>The report was not saved: %1.</source>
        <translation>Der Bericht wurde nicht gespeichert: %1.</translation>
    </message>
    <message>
        <source>There is no job.</source>
        <translation>Es gibt keinen Job.</translation>
    </message>
    <message>
        <source>The history of the job has no changes and no samples.</source>
        <translation>Der Verlauf des Jobs hat weder Änderungen noch Messwerte.</translation>
    </message>
    <message>
        <source>The moment of change %1 cannot be shown: the cluster no longer has job %2.</source>
        <translation>Der Moment von Änderung %1 kann nicht gezeigt werden: Der Cluster hat Job %2 nicht mehr.</translation>
    </message>
    <message>
        <source>Starting a local cluster: %1</source>
        <translation>Ein lokaler Cluster startet: %1</translation>
    </message>
    <message>
        <source>This is a history file, not a live cluster: %1</source>
        <translation>Dies ist eine Verlaufsdatei, kein laufender Cluster: %1</translation>
    </message>
    <message>
        <source>Close the file</source>
        <translation>Die Datei schließen</translation>
    </message>
    <message>
        <source>Take over</source>
        <translation>Übernehmen</translation>
    </message>
    <message>
        <source>The history cannot be written: %1. Monitoring continues.</source>
        <translation>Der Verlauf kann nicht geschrieben werden: %1. Die Beobachtung geht weiter.</translation>
    </message>
    <message>
        <source>Data settings…</source>
        <translation>Daten-Einstellungen…</translation>
    </message>
    <message>
        <source>Draft: nothing moves until you apply it.</source>
        <translation>Entwurf: Nichts bewegt sich, bevor er angewendet wird.</translation>
    </message>
    <message>
        <source>Back to live  Esc</source>
        <translation>Zurück zu Live  Esc</translation>
    </message>
    <message>
        <source>Past: %1, step %2. Nothing here changes the cluster.</source>
        <translation>Vergangenheit: %1, Schritt %2. Hier ändert nichts den Cluster.</translation>
    </message>
    <message>
        <source>Back  Esc</source>
        <translation>Zurück  Esc</translation>
    </message>
    <message>
        <source>Return to live  Esc</source>
        <translation>Zurück zu Live  Esc</translation>
    </message>
    <message>
        <source>Simulated: lesson “%1”. Nothing is sent to a cluster.</source>
        <translation>Simuliert: Lektion „%1“. Nichts wird an einen Cluster gesendet.</translation>
    </message>
    <message>
        <source>Leave  Esc</source>
        <translation>Verlassen  Esc</translation>
    </message>
    <message>
        <source>Waiting for the first node to answer.</source>
        <translation>Warten auf die Antwort des ersten Knotens.</translation>
    </message>
    <message>
        <source>Connection lost. The data shown is from %1. %2</source>
        <translation>Verbindung verloren. Stand der Daten: %1. %2</translation>
    </message>
    <message>
        <source>Retry now</source>
        <translation>Jetzt erneut versuchen</translation>
    </message>
    <message>
        <source>The cluster does not answer</source>
        <translation>Der Cluster antwortet nicht</translation>
    </message>
    <message>
        <source>The cluster refused the connection: %1</source>
        <translation>Der Cluster hat die Verbindung abgelehnt: %1</translation>
    </message>
    <message>
        <source>The cluster refused the connection</source>
        <translation>Der Cluster hat die Verbindung abgelehnt</translation>
    </message>
    <message>
        <source>No job is running. Start one:</source>
        <translation>Kein Job läuft. Einen starten:</translation>
    </message>
    <message>
        <source>Start a job…</source>
        <translation>Job starten…</translation>
    </message>
    <message>
        <source>the cluster gave no reason</source>
        <translation>der Cluster nannte keinen Grund</translation>
    </message>
    <message>
        <source>%1 failed: %2</source>
        <translation>%1 ist fehlgeschlagen: %2</translation>
    </message>
    <message>
        <source>%1 is suspended: %2</source>
        <translation>%1 ist ausgesetzt: %2</translation>
    </message>
    <message>
        <source>%1 is starting: %2</source>
        <translation>%1 startet: %2</translation>
    </message>
    <message>
        <source>%1 is slow: it computes %2 per step, its peers %3. All GPUs of the job wait for it.</source>
        <translation>%1 ist langsam: Sie rechnet %2 pro Schritt, die anderen %3. Alle GPUs des Jobs warten auf sie.</translation>
    </message>
    <message>
        <source>Draft without %1</source>
        <translation>Entwurf ohne %1</translation>
    </message>
    <message>
        <source>no cluster</source>
        <translation>kein Cluster</translation>
    </message>
    <message>
        <source>connecting</source>
        <translation>Verbindung wird aufgebaut</translation>
    </message>
    <message>
        <source>history file</source>
        <translation>Verlaufsdatei</translation>
    </message>
    <message>
        <source>%1 of 1 agent</source>
        <translation>%1 von 1 Agenten</translation>
    </message>
    <message>
        <source>%1 of %2 agents</source>
        <translation>%1 von %2 Agenten</translation>
    </message>
    <message>
        <source> · operated by %1</source>
        <translation> · bedient von %1</translation>
    </message>
    <message>
        <source> · viewer&apos;s key &apos;%1&apos;: changes need an operator&apos;s</source>
        <translation> · viewer-Schlüssel „%1“: Änderungen brauchen einen operator-Schlüssel</translation>
    </message>
    <message>
        <source>connection lost</source>
        <translation>Verbindung verloren</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>abgelehnt</translation>
    </message>
    <message>
        <source>simulated · %1</source>
        <translation>simuliert · %1</translation>
    </message>
    <message>
        <source>moving %1</source>
        <translation>%1 übertragen</translation>
    </message>
    <message>
        <source>step %1 of %2 · %3 of %4 lessons finished</source>
        <translation>Schritt %1 von %2 · %3 von %4 Lektionen abgeschlossen</translation>
    </message>
    <message>
        <source>draft: %1 added, %2 removed · Ctrl+Z undoes</source>
        <translation>Entwurf: %1 dazu, %2 weg · Strg+Z macht rückgängig</translation>
    </message>
    <message>
        <source>a decision is needed</source>
        <translation>eine Entscheidung ist nötig</translation>
    </message>
    <message>
        <source>no change in progress</source>
        <translation>keine Änderung läuft</translation>
    </message>
    <message>
        <source>Tessera</source>
        <translation>Tessera</translation>
    </message>
    <message>
        <source>as of %1</source>
        <translation>Stand %1</translation>
    </message>
    <message>
        <source>The settings could not be saved: %1.</source>
        <translation>Die Einstellungen konnten nicht gespeichert werden: %1.</translation>
    </message>
    <message>
        <source>Creating its keys</source>
        <translation>Schlüssel werden erzeugt</translation>
    </message>
    <message>
        <source>The cluster could not be started: %1.</source>
        <translation>Der Cluster konnte nicht gestartet werden: %1.</translation>
    </message>
    <message>
        <source>Open a history file</source>
        <translation>Verlaufsdatei öffnen</translation>
    </message>
    <message>
        <source>History files (*.db *.sqlite);;All files (*)</source>
        <translation>Verlaufsdateien (*.db *.sqlite);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>, rank %1 of %2</source>
        <translation>, Rank %1 von %2</translation>
    </message>
    <message>
        <source>, idle</source>
        <translation>, frei</translation>
    </message>
    <message>
        <source>GPU %1</source>
        <translation>GPU %1</translation>
    </message>
    <message>
        <source>Node %1</source>
        <translation>Knoten %1</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>Change %1 of %2</source>
        <translation>Änderung %1 von %2</translation>
    </message>
    <message>
        <source>&amp;Past</source>
        <translation>&amp;Vergangenheit</translation>
    </message>
    <message>
        <source>Red&amp;uce Motion</source>
        <translation>&amp;Weniger Bewegung</translation>
    </message>
    <message>
        <source>Ne&amp;xt Pane</source>
        <translation>Nächster &amp;Bereich</translation>
    </message>
    <message>
        <source>Filte&amp;r</source>
        <translation>&amp;Filter</translation>
    </message>
    <message>
        <source>Layout: Operate</source>
        <translation>Anordnung: Bedienen</translation>
    </message>
    <message>
        <source>Layout: Teach</source>
        <translation>Anordnung: Unterrichten</translation>
    </message>
    <message>
        <source>Layout: Review</source>
        <translation>Anordnung: Auswerten</translation>
    </message>
    <message>
        <source>Reset Layout</source>
        <translation>Anordnung zurücksetzen</translation>
    </message>
    <message>
        <source>Dark &amp;Colours</source>
        <translation>Dunkle Fa&amp;rben</translation>
    </message>
    <message>
        <source>Save as Sce&amp;nario…</source>
        <translation>Als S&amp;zenario speichern…</translation>
    </message>
    <message>
        <source>Save what the job has been through as a file that a simulated cluster plays</source>
        <translation>Speichern, was der Job erlebt hat, als Datei, die ein simulierter Cluster abspielt</translation>
    </message>
    <message>
        <source>This is a history file, not a live cluster.</source>
        <translation>Dies ist eine Verlaufsdatei, kein laufender Cluster.</translation>
    </message>
    <message>
        <source>Save the past of %1</source>
        <translation>Vergangenheit von %1 speichern</translation>
    </message>
    <message>
        <source>Scenarios (*.json)</source>
        <translation>Szenarien (*.json)</translation>
    </message>
    <message>
        <source>The scenario is in %1.</source>
        <translation>Das Szenario ist in %1.</translation>
    </message>
    <message>
        <source>The scenario was not saved: %1.</source>
        <translation>Das Szenario wurde nicht gespeichert: %1.</translation>
    </message>
    <message>
        <source>&amp;Curves…</source>
        <translation>K&amp;urven…</translation>
    </message>
    <message>
        <source>Choose what is drawn over time: loss, speed, and what the program logs</source>
        <translation>Wählen, was über die Zeit gezeichnet wird: Loss, Tempo und was das Programm protokolliert</translation>
    </message>
    <message>
        <source>The change is already being rolled back.</source>
        <translation>Die Änderung wird bereits zurückgerollt.</translation>
    </message>
    <message>
        <source>The change waits for a decision.</source>
        <translation>Die Änderung wartet auf eine Entscheidung.</translation>
    </message>
    <message>
        <source>The outcome of the change is not known yet.</source>
        <translation>Das Ergebnis der Änderung ist noch nicht bekannt.</translation>
    </message>
    <message>
        <source>The cluster is connected but silent. The data shown is from %1.</source>
        <translation>Der Cluster ist verbunden, sendet aber nichts. Stand der Daten: %1.</translation>
    </message>
    <message>
        <source>Reconnect</source>
        <translation>Neu verbinden</translation>
    </message>
    <message>
        <source>&amp;Mark for a Swap</source>
        <translation>Zum &amp;Tauschen vormerken</translation>
    </message>
    <message>
        <source>Mark the selected GPUs, to swap their places with those of others</source>
        <translation>Die ausgewählten GPUs vormerken, um ihre Plätze mit denen anderer zu tauschen</translation>
    </message>
    <message>
        <source>S&amp;wap with the Marked</source>
        <translation>&amp;Mit den vorgemerkten tauschen</translation>
    </message>
    <message>
        <source>Swap the places of the marked GPUs and of those selected now</source>
        <translation>Die Plätze der vorgemerkten und der jetzt ausgewählten GPUs tauschen</translation>
    </message>
    <message>
        <source>Mark the GPUs to swap first, with Ctrl+X.</source>
        <translation>Zuerst mit Strg+X die GPUs vormerken, die getauscht werden.</translation>
    </message>
    <message>
        <source>Group by Node</source>
        <translation>Rahmen nach Knoten</translation>
    </message>
    <message>
        <source>Group by Host</source>
        <translation>Rahmen nach Host</translation>
    </message>
    <message>
        <source>Group by Pipeline Stage</source>
        <translation>Rahmen nach Pipeline-Stage</translation>
    </message>
    <message>
        <source>Choose what a frame of the mesh contains</source>
        <translation>Wählen, was ein Rahmen des Meshs enthält</translation>
    </message>
    <message>
        <source>A lesson has no history</source>
        <translation>Eine Lektion hat keinen Verlauf</translation>
    </message>
    <message>
        <source>Timeline, history and events of the cluster are here again as soon as Live is shown.</source>
        <translation>Zeitachse, Verlauf und Ereignisse des Clusters sind wieder hier, sobald Live gezeigt wird.</translation>
    </message>
    <message>
        <source>After change #%1, against #%2: %3 joined, %4 left, %5 hold another shard.</source>
        <translation>Nach Änderung #%1, gegenüber #%2: %3 beigetreten, %4 ausgeschieden, %5 mit einem anderen Shard.</translation>
    </message>
    <message>
        <source>draft: places swapped · Ctrl+Z undoes</source>
        <translation>Entwurf: Plätze getauscht · Strg+Z nimmt zurück</translation>
    </message>
    <message>
        <source>Compare &amp;Moments</source>
        <translation>&amp;Momente vergleichen</translation>
    </message>
    <message>
        <source>Keep the moment shown, and compare it with those shown from now on</source>
        <translation>Den gezeigten Moment festhalten und mit den danach gezeigten vergleichen</translation>
    </message>
    <message>
        <source>Show a moment of the past first.</source>
        <translation>Zuerst einen Moment der Vergangenheit zeigen.</translation>
    </message>
    <message>
        <source>planning</source>
        <translation>Planung</translation>
    </message>
    <message>
        <source>%1 returns to the configuration before the tuning.</source>
        <translation>%1 kehrt zur Konfiguration vor dem Abstimmen zurück.</translation>
    </message>
    <message>
        <source>%1 is being tuned: %2.</source>
        <translation>%1 wird abgestimmt: %2.</translation>
    </message>
    <message>
        <source>Stop and go back</source>
        <translation>Anhalten und zurück</translation>
    </message>
    <message>
        <source>Group by Rack</source>
        <translation>Rahmen nach Rack</translation>
    </message>
    <message>
        <source>Plots</source>
        <translation>Kurven</translation>
    </message>
    <message>
        <source>Whole window</source>
        <translation>Ganzes Fenster</translation>
    </message>
    <message>
        <source>Save a view, the plots or the window as a PNG or SVG file</source>
        <translation>Eine Ansicht, die Kurven oder das Fenster als PNG- oder SVG-Datei speichern</translation>
    </message>
    <message>
        <source>The picture is in %1.</source>
        <translation>Das Bild ist in %1.</translation>
    </message>
    <message>
        <source>Group By</source>
        <comment>a menu in View</comment>
        <translation>Gruppieren nach</translation>
    </message>
    <message>
        <source>Colour by %1</source>
        <comment>shard (tp × pp), node</comment>
        <translation>Farben nach %1</translation>
    </message>
    <message>
        <source>Choose the meaning of the colours in all views</source>
        <translation>Die Bedeutung der Farben in allen Ansichten wählen</translation>
    </message>
    <message>
        <source>Colour By</source>
        <comment>a menu in View</comment>
        <translation>Farben nach</translation>
    </message>
    <message>
        <source>Enlarge the views and the lesson, mark the pointer with a ring, and show the keys that are pressed</source>
        <translation>Ansichten und Lektion vergrößern, den Zeiger mit einem Ring markieren und gedrückte Tasten zeigen</translation>
    </message>
    <message>
        <source>Panes</source>
        <comment>a menu in View</comment>
        <translation>Bereiche</translation>
    </message>
    <message>
        <source>Layout</source>
        <comment>a menu in View</comment>
        <translation>Anordnung</translation>
    </message>
    <message>
        <source>Theme</source>
        <comment>a menu in View</comment>
        <translation>Erscheinungsbild</translation>
    </message>
    <message>
        <source>Quit, the change goes on</source>
        <translation>Beenden, die Änderung läuft weiter</translation>
    </message>
    <message>
        <source>The cluster was started anew. What is shown here begins with this start.</source>
        <translation>Der Cluster wurde neu gestartet. Was hier zu sehen ist, beginnt mit diesem Start.</translation>
    </message>
    <message>
        <source>Reading %1…</source>
        <translation>%1 wird gelesen…</translation>
    </message>
    <message>
        <source>The cluster was stopped at %1</source>
        <translation>Der Cluster wurde um %1 beendet</translation>
    </message>
    <message>
        <source>%1 was stopped at %2</source>
        <translation>%1 wurde um %2 beendet</translation>
    </message>
    <message>
        <source>By %1.</source>
        <translation>Von %1.</translation>
    </message>
    <message>
        <source>Its jobs have ended, and their state in memory is gone. History, logs and checkpoints stay on the disk.</source>
        <translation>Seine Jobs sind beendet, und ihr Zustand im Speicher ist verloren. Verlauf, Logs und Checkpoints bleiben auf der Platte.</translation>
    </message>
    <message>
        <source>The panel cannot start it: `tesseractl up` does, where it was started.</source>
        <translation>Das Panel kann ihn nicht starten: `tesseractl up` startet ihn dort, wo er gestartet wurde.</translation>
    </message>
    <message>
        <source>%1 goes back to the snapshot of step %2. %3 are lost.</source>
        <translation>%1 geht zum Snapshot von Schritt %2 zurück. Verloren: %3.</translation>
    </message>
    <message>
        <source>%1 goes back to the checkpoint of step %2. %3 are lost.</source>
        <translation>%1 geht zum Checkpoint von Schritt %2 zurück. Verloren: %3.</translation>
    </message>
    <message>
        <source>The state after step %1 is complete in memory. It is given up.</source>
        <translation>Der Zustand nach Schritt %1 ist vollständig im Speicher. Er wird aufgegeben.</translation>
    </message>
    <message>
        <source>What is left of the newer state is given up.</source>
        <translation>Was vom neueren Zustand übrig ist, wird aufgegeben.</translation>
    </message>
    <message>
        <source>Go back to step %1</source>
        <translation>Zurück zu Schritt %1</translation>
    </message>
    <message>
        <source>Keep the state</source>
        <translation>Zustand behalten</translation>
    </message>
    <message>
        <source>Nothing was decided: another job than %1 is shown now.</source>
        <translation>Nichts wurde entschieden: Jetzt wird ein anderer Job als %1 gezeigt.</translation>
    </message>
    <message>
        <source>%1 is back, its GPUs are empty.</source>
        <translation>%1 ist zurück, seine GPUs sind leer.</translation>
    </message>
    <message>
        <source>Start %1 over</source>
        <translation>%1 neu anfangen</translation>
    </message>
    <message>
        <source>%1 is stopped first: its state in memory is lost, snapshots too. Checkpoints stay.</source>
        <translation>%1 wird zuerst beendet: Sein Zustand im Speicher geht verloren, Snapshots auch. Checkpoints bleiben.</translation>
    </message>
    <message>
        <source>Then you can start it from its first step, or from a checkpoint.</source>
        <translation>Danach lässt er sich von seinem ersten Schritt oder von einem Checkpoint an starten.</translation>
    </message>
    <message>
        <source>Stop %1 and start over</source>
        <translation>%1 beenden und neu anfangen</translation>
    </message>
    <message>
        <source>Nothing was stopped: another job than %1 is shown now.</source>
        <translation>Nichts wurde beendet: Jetzt wird ein anderer Job als %1 gezeigt.</translation>
    </message>
    <message>
        <source>Change %1 belongs to an earlier job %2, which has ended.</source>
        <translation>Änderung %1 gehört zu einem früheren Job %2, der beendet ist.</translation>
    </message>
    <message>
        <source>%1  %2, step %3, epoch %4</source>
        <comment>A 14:01:30, step 402, epoch 2</comment>
        <translation>%1  %2, Schritt %3, Epoche %4</translation>
    </message>
    <message>
        <source>%1  after change #%2</source>
        <comment>A after change #2</comment>
        <translation>%1  nach Änderung #%2</translation>
    </message>
    <message>
        <source>stopped at %1</source>
        <translation>um %1 beendet</translation>
    </message>
</context>
<context>
    <name>tessera::ui::MemoryUse</name>
    <message>
        <source>parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>Optimizer</translation>
    </message>
    <message>
        <source>other state</source>
        <translation>anderer Zustand</translation>
    </message>
    <message>
        <source>gradients and others</source>
        <translation>Gradienten und anderes</translation>
    </message>
    <message>
        <source>staging</source>
        <translation>Zwischenspeicher</translation>
    </message>
    <message>
        <source>free</source>
        <translation>frei</translation>
    </message>
</context>
<context>
    <name>tessera::ui::Menus</name>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <source>&amp;Cluster</source>
        <translation>&amp;Cluster</translation>
    </message>
    <message>
        <source>&amp;Plan</source>
        <translation>&amp;Plan</translation>
    </message>
    <message>
        <source>&amp;Learn</source>
        <translation>&amp;Lernen</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <source>Hi&amp;story</source>
        <translation>&amp;Verlauf</translation>
    </message>
    <message>
        <source>Zoom</source>
        <comment>a menu in View</comment>
        <translation>Zoom</translation>
    </message>
    <message>
        <source>Diagnosis</source>
        <comment>a menu in Cluster</comment>
        <translation>Diagnose</translation>
    </message>
</context>
<context>
    <name>tessera::ui::MeshPage</name>
    <message>
        <source>Draw the mesh larger</source>
        <translation>Das Mesh größer zeichnen</translation>
    </message>
    <message>
        <source>Zoom &amp;Out</source>
        <translation>Ver&amp;kleinern</translation>
    </message>
    <message>
        <source>Draw the mesh smaller</source>
        <translation>Das Mesh kleiner zeichnen</translation>
    </message>
    <message>
        <source>&amp;Fit All</source>
        <translation>Alles einpa&amp;ssen</translation>
    </message>
    <message>
        <source>Show the whole mesh</source>
        <translation>Das ganze Mesh zeigen</translation>
    </message>
    <message>
        <source>Mesh</source>
        <translation>Mesh</translation>
    </message>
    <message>
        <source>&amp;Mesh</source>
        <translation>&amp;Mesh</translation>
    </message>
    <message>
        <source>Show the GPUs and the shards that they hold</source>
        <translation>Die GPUs und die Shards zeigen, die sie halten</translation>
    </message>
    <message>
        <source>&amp;Zoom In</source>
        <translation>Ver&amp;größern</translation>
    </message>
    <message>
        <source>tp: Tensor Parallel</source>
        <translation>tp: Tensor-parallel</translation>
    </message>
    <message>
        <source>dp: Data Parallel</source>
        <translation>dp: Daten-parallel</translation>
    </message>
    <message>
        <source>pp: Pipeline</source>
        <translation>pp: Pipeline</translation>
    </message>
    <message>
        <source>ep: Experts</source>
        <translation>ep: Experten</translation>
    </message>
    <message>
        <source>cp: Context</source>
        <translation>cp: Kontext</translation>
    </message>
    <message>
        <source>Communication Groups</source>
        <translation>Kommunikationsgruppen</translation>
    </message>
    <message>
        <source>Light up the GPUs with which the GPU under the pointer, or the current one, communicates along this axis</source>
        <translation>Die GPUs aufleuchten lassen, mit denen die GPU unter dem Zeiger, sonst die aktuelle, entlang dieser Achse kommuniziert</translation>
    </message>
</context>
<context>
    <name>tessera::ui::MeshPair</name>
    <message>
        <source>Mesh of the other moment</source>
        <translation>Mesh des anderen Moments</translation>
    </message>
</context>
<context>
    <name>tessera::ui::MeshScene</name>
    <message>
        <source>leaves</source>
        <translation>geht</translation>
    </message>
    <message>
        <source>idle</source>
        <translation>frei</translation>
    </message>
    <message>
        <source>joins</source>
        <translation>tritt bei</translation>
    </message>
    <message>
        <source>stays</source>
        <translation>bleibt</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>unused</source>
        <translation>ungenutzt</translation>
    </message>
    <message>
        <source>receives %1</source>
        <translation>erhält %1</translation>
    </message>
    <message>
        <source>starting</source>
        <translation>startet</translation>
    </message>
    <message>
        <source>sends</source>
        <translation>sendet</translation>
    </message>
    <message>
        <source>no answer</source>
        <translation>keine Antwort</translation>
    </message>
    <message>
        <source>lost</source>
        <translation>verloren</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <source>joining</source>
        <translation>tritt bei</translation>
    </message>
    <message>
        <source>no answer for %1</source>
        <translation>keine Antwort seit %1</translation>
    </message>
    <message>
        <source>last seen %1</source>
        <translation>zuletzt gesehen %1</translation>
    </message>
    <message>
        <source>lost %1</source>
        <translation>verloren %1</translation>
    </message>
    <message>
        <source>left</source>
        <translation>gegangen</translation>
    </message>
    <message>
        <source>sends %1</source>
        <translation>sendet %1</translation>
    </message>
    <message>
        <source>runs %1</source>
        <translation>nutzt %1</translation>
    </message>
    <message>
        <source>joining, %1</source>
        <translation>tritt bei, %1</translation>
    </message>
    <message>
        <source>leaving</source>
        <translation>geht</translation>
    </message>
    <message>
        <source>sending</source>
        <translation>sendet</translation>
    </message>
    <message>
        <source>receiving %1 percent</source>
        <translation>empfängt, %1 Prozent</translation>
    </message>
    <message>
        <source>stalled at %1 percent</source>
        <translation>stockt bei %1 Prozent</translation>
    </message>
    <message>
        <source>loading</source>
        <translation>lädt</translation>
    </message>
    <message>
        <source>suspect, no answer</source>
        <translation>verdächtig, keine Antwort</translation>
    </message>
    <message>
        <source>shard (tp × pp)</source>
        <translation>Shard (tp × pp)</translation>
    </message>
    <message>
        <source>replica (dp)</source>
        <translation>Replikat (dp)</translation>
    </message>
    <message>
        <source>pipeline stage (pp)</source>
        <translation>Pipeline-Stage (pp)</translation>
    </message>
    <message>
        <source>tensor slice (tp)</source>
        <translation>Tensor-Slice (tp)</translation>
    </message>
    <message>
        <source>node</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <source>memory used</source>
        <translation>belegter Speicher</translation>
    </message>
    <message>
        <source>%1 GPU %2</source>
        <translation>%1 GPU %2</translation>
    </message>
    <message>
        <source>DP %1 TP %2 PP %3</source>
        <translation>DP %1 TP %2 PP %3</translation>
    </message>
    <message>
        <source> EP %1</source>
        <translation> EP %1</translation>
    </message>
    <message>
        <source> CP %1</source>
        <translation> CP %1</translation>
    </message>
    <message>
        <source>in the pool</source>
        <translation>im Pool</translation>
    </message>
    <message>
        <source>No cluster yet</source>
        <translation>Noch kein Cluster</translation>
    </message>
    <message>
        <source>No job is running</source>
        <translation>Kein Job läuft</translation>
    </message>
    <message>
        <source>joined since the earlier change</source>
        <translation>seit der früheren Änderung beigetreten</translation>
    </message>
    <message>
        <source>left since the earlier change</source>
        <translation>seit der früheren Änderung ausgeschieden</translation>
    </message>
    <message>
        <source>holds another shard than after the earlier change</source>
        <translation>hält einen anderen Shard als nach der früheren Änderung</translation>
    </message>
    <message>
        <source>%1 on %2</source>
        <comment>16 GPUs on 2 nodes</comment>
        <translation>%1 auf %2</translation>
    </message>
    <message>
        <source>%1, %2 in trouble</source>
        <translation>%1, %2 gestört</translation>
    </message>
    <message>
        <source>no stage yet</source>
        <translation>noch keine Stage</translation>
    </message>
    <message>
        <source>host</source>
        <translation>Host</translation>
    </message>
    <message>
        <source>rank %1, slow</source>
        <translation>Rank %1, langsam</translation>
    </message>
    <message>
        <source>slower than its peers</source>
        <translation>langsamer als die anderen</translation>
    </message>
    <message>
        <source>no rack</source>
        <translation>kein Rack</translation>
    </message>
    <message>
        <source>rack</source>
        <translation>Rack</translation>
    </message>
    <message>
        <source>same</source>
        <comment>the shard of a GPU, as before</comment>
        <translation>gleich</translation>
    </message>
    <message>
        <source>joined</source>
        <translation>dazu</translation>
    </message>
    <message>
        <source>left</source>
        <comment>a GPU has left the job</comment>
        <translation>entfernt</translation>
    </message>
    <message>
        <source>other shard</source>
        <translation>anderer Shard</translation>
    </message>
</context>
<context>
    <name>tessera::ui::MeshView</name>
    <message>
        <source>Mesh</source>
        <translation>Mesh</translation>
    </message>
    <message>
        <source>as of %1</source>
        <translation>Stand %1</translation>
    </message>
    <message>
        <source>add %1 to %2</source>
        <translation>%1 zu %2 hinzufügen</translation>
    </message>
    <message>
        <source>remove %1 from %2</source>
        <translation>%1 aus %2 entfernen</translation>
    </message>
    <message>
        <source>Select GPUs of the job or of the pool first.</source>
        <translation>Zuerst GPUs des Jobs oder des Pools auswählen.</translation>
    </message>
    <message>
        <source>%1 runs there: its GPUs cannot be taken</source>
        <translation>Dort läuft %1: Seine GPUs sind nicht frei</translation>
    </message>
    <message>
        <source>swap %1 and %2</source>
        <translation>%1 und %2 tauschen</translation>
    </message>
    <message>
        <source>Mark the GPUs to swap first, with Ctrl+X.</source>
        <translation>Zuerst mit Strg+X die GPUs vormerken, die getauscht werden.</translation>
    </message>
    <message>
        <source>Select %1 to swap with, other than those marked and of no other job.</source>
        <translation>Zum Tauschen %1 auswählen, die nicht vorgemerkt sind und zu keinem anderen Job gehören.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ModelMap</name>
    <message>
        <source>Tensors of the model</source>
        <translation>Tensoren des Modells</translation>
    </message>
    <message>
        <source>small (%1)</source>
        <translation>klein (%1)</translation>
    </message>
    <message>
        <source>layer %1</source>
        <translation>Schicht %1</translation>
    </message>
    <message>
        <source>pp %1 · layer %2</source>
        <translation>pp %1 · Schicht %2</translation>
    </message>
    <message>
        <source>mesh %1</source>
        <translation>Mesh %1</translation>
    </message>
    <message>
        <source>after, %1</source>
        <translation>danach, %1</translation>
    </message>
    <message>
        <source>now, %1</source>
        <translation>jetzt, %1</translation>
    </message>
    <message>
        <source>%1
%2 %3, %4
this part on %5</source>
        <translation>%1
%2 %3, %4
dieser Teil auf %5</translation>
    </message>
</context>
<context>
    <name>tessera::ui::MomentDiff</name>
    <message>
        <source>when</source>
        <translation>wann</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>phase</source>
        <translation>Phase</translation>
    </message>
    <message>
        <source>no change</source>
        <translation>keine Änderung</translation>
    </message>
    <message>
        <source>last change</source>
        <translation>letzte Änderung</translation>
    </message>
    <message>
        <source>moved by it</source>
        <translation>von ihr verschoben</translation>
    </message>
    <message>
        <source>epoch</source>
        <translation>Epoche</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPUs</translation>
    </message>
    <message>
        <source>options</source>
        <translation>Optionen</translation>
    </message>
    <message>
        <source>nodes alive</source>
        <translation>lebende Knoten</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <comment>nodes</comment>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation>Token/s</translation>
    </message>
    <message>
        <source>No change began in between.</source>
        <translation>Dazwischen begann keine Änderung.</translation>
    </message>
    <message>
        <source>1 change in between moved %1 and paused the job for %2.</source>
        <translation>1 Änderung dazwischen verschob %1 und hielt den Job %2 an.</translation>
    </message>
    <message>
        <source>%1 changes in between moved %2 and paused the job for %3.</source>
        <translation>%1 Änderungen dazwischen verschoben %2 und hielten den Job %3 an.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::MountDialog</name>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>&amp;Read only: no files are handed in</source>
        <translation>Nur &amp;lesen: Keine Dateien werden übergeben</translation>
    </message>
    <message>
        <source>command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Copy as command</source>
        <translation>Als Befehl kopieren</translation>
    </message>
    <message>
        <source>Mount</source>
        <translation>Einhängen</translation>
    </message>
    <message>
        <source>Mount the Files</source>
        <translation>Die Dateien einhängen</translation>
    </message>
    <message>
        <source>The state of all jobs appears on this machine as files that any program can read, such as full/model.safetensors. It stays when the panel is closed.</source>
        <translation>Der Zustand aller Jobs erscheint auf diesem Rechner als Dateien, die jedes Programm lesen kann, etwa full/model.safetensors. Er bleibt, wenn das Panel geschlossen wird.</translation>
    </message>
    <message>
        <source>an empty folder of this machine</source>
        <translation>ein leerer Ordner dieses Rechners</translation>
    </message>
    <message>
        <source>…</source>
        <translation>…</translation>
    </message>
    <message>
        <source>Choose the folder</source>
        <translation>Den Ordner wählen</translation>
    </message>
    <message>
        <source>The same as a command</source>
        <translation>Dasselbe als Befehl</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>The files are being mounted.</source>
        <translation>Die Dateien werden eingehängt.</translation>
    </message>
    <message>
        <source>Choose a folder.</source>
        <translation>Einen Ordner wählen.</translation>
    </message>
    <message>
        <source>Enter the full path, starting with /.</source>
        <translation>Den vollen Pfad eingeben, beginnend mit /.</translation>
    </message>
    <message>
        <source>This folder does not exist.</source>
        <translation>Diesen Ordner gibt es nicht.</translation>
    </message>
    <message>
        <source>This folder is not empty.</source>
        <translation>Dieser Ordner ist nicht leer.</translation>
    </message>
    <message>
        <source>Mounting…</source>
        <translation>Wird eingehängt…</translation>
    </message>
</context>
<context>
    <name>tessera::ui::MoveControl</name>
    <message>
        <source>This panel is read-only.</source>
        <translation>Dieses Panel ist nur zum Lesen.</translation>
    </message>
    <message>
        <source>This is a history file, not a live cluster.</source>
        <translation>Dies ist eine Verlaufsdatei, kein laufender Cluster.</translation>
    </message>
    <message>
        <source>The profile of this cluster is read-only.</source>
        <translation>Das Profil dieses Clusters ist nur zum Lesen.</translation>
    </message>
    <message>
        <source>Key &apos;%1&apos; is a viewer&apos;s: only an operator&apos;s key can change this cluster.</source>
        <translation>Schlüssel „%1“ ist ein viewer-Schlüssel: Nur mit einem operator-Schlüssel lässt sich dieser Cluster ändern.</translation>
    </message>
    <message>
        <source>Monitor mode: switch to Operate first (Ctrl+Shift+O).</source>
        <translation>Modus Beobachten: zuerst zu Bedienen wechseln (Strg+Umschalt+O).</translation>
    </message>
    <message>
        <source>There is no connection to the cluster.</source>
        <translation>Es gibt keine Verbindung zum Cluster.</translation>
    </message>
    <message>
        <source>This is a lesson: return to live first.</source>
        <translation>Dies ist eine Lektion: zuerst zu Live zurückkehren.</translation>
    </message>
    <message>
        <source>This is the past: return to live first.</source>
        <translation>Dies ist die Vergangenheit: zuerst zu Live zurückkehren.</translation>
    </message>
    <message>
        <source>No job is running.</source>
        <translation>Kein Job läuft.</translation>
    </message>
    <message>
        <source>A change is in progress.</source>
        <translation>Eine Änderung läuft.</translation>
    </message>
    <message>
        <source>Change something: drag a GPU or edit an axis.</source>
        <translation>Etwas ändern: eine GPU ziehen oder eine Achse bearbeiten.</translation>
    </message>
    <message>
        <source>Planning…</source>
        <translation>Plan entsteht…</translation>
    </message>
    <message>
        <source>The draft does not change the job.</source>
        <translation>Der Entwurf ändert den Job nicht.</translation>
    </message>
    <message>
        <source>%1 would hold %2</source>
        <translation>%1 würde %2 halten</translation>
    </message>
    <message>
        <source>Not enough memory: %1.</source>
        <translation>Zu wenig Speicher: %1.</translation>
    </message>
    <message>
        <source>The change cannot be recorded: %1.</source>
        <translation>Die Änderung kann nicht aufgezeichnet werden: %1.</translation>
    </message>
    <message>
        <source>Nothing was moved. %1</source>
        <translation>Nichts wurde verschoben. %1</translation>
    </message>
    <message>
        <source>Nothing was moved: %1.</source>
        <translation>Nichts wurde verschoben: %1.</translation>
    </message>
    <message>
        <source>The change was not cancelled: %1.</source>
        <translation>Die Änderung wurde nicht abgebrochen: %1.</translation>
    </message>
    <message>
        <source>No checkpoint was saved: %1.</source>
        <translation>Kein Checkpoint wurde gespeichert: %1.</translation>
    </message>
    <message>
        <source>The job could not be changed: %1.</source>
        <translation>Der Job konnte nicht geändert werden: %1.</translation>
    </message>
    <message>
        <source>A change in rounds is not made by a drop: press Apply.</source>
        <translation>Eine Änderung in Runden geschieht nicht durch Ablegen: Anwenden drücken.</translation>
    </message>
    <message>
        <source>Not enough memory on %1: %2, and %3 more.</source>
        <translation>Zu wenig Speicher auf %1: %2 und %3 weitere.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::Navigator</name>
    <message>
        <source>JOB</source>
        <translation>JOB</translation>
    </message>
    <message>
        <source>Cluster</source>
        <translation>Cluster</translation>
    </message>
    <message>
        <source>CLUSTER</source>
        <translation>CLUSTER</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Tensors</source>
        <translation>Tensoren</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Replicas</source>
        <translation>Replikate</translation>
    </message>
    <message>
        <source>Global batch</source>
        <translation>Globaler Batch</translation>
    </message>
    <message>
        <source>Ends at step</source>
        <translation>Endet bei Schritt</translation>
    </message>
</context>
<context>
    <name>tessera::ui::NoticeBar</name>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation>Den Befehl kopieren</translation>
    </message>
    <message>
        <source>Action of the notice</source>
        <translation>Aktion des Hinweises</translation>
    </message>
    <message>
        <source>Copy %1</source>
        <translation>%1 kopieren</translation>
    </message>
</context>
<context>
    <name>tessera::ui::OperatorSeat</name>
    <message>
        <source>%1, since %2</source>
        <translation>%1, seit %2</translation>
    </message>
    <message>
        <source>Taken over by %1. This panel is in Monitor.</source>
        <translation>Übernommen von %1. Dieses Panel beobachtet.</translation>
    </message>
    <message>
        <source>This cluster is operated by %1. This panel is in Monitor.</source>
        <translation>Dieser Cluster wird von %1 bedient. Dieses Panel beobachtet.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::OverlapWords</name>
    <message>
        <source>Pause ≈ %1 if the state is copied while the job trains, ≈ %2 if not.</source>
        <translation>Pause ≈ %1, wenn der Zustand beim Trainieren kopiert wird, sonst ≈ %2.</translation>
    </message>
    <message>
        <source>moves while training</source>
        <translation>bewegt beim Training</translation>
    </message>
    <message>
        <source>all but %1 of gradients</source>
        <translation>alles außer %1 Gradienten</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>rounds</source>
        <translation>Runden</translation>
    </message>
    <message>
        <source>%1, each with at most %2 beside the state of a GPU</source>
        <translation>%1, jede mit höchstens %2 neben dem Zustand einer GPU</translation>
    </message>
    <message>
        <source>can be rolled back</source>
        <translation>umkehrbar</translation>
    </message>
    <message>
        <source>only until the first round</source>
        <translation>nur bis zur ersten Runde</translation>
    </message>
    <message>
        <source>no</source>
        <translation>nein</translation>
    </message>
    <message>
        <source>yes, until the commit</source>
        <translation>ja, bis zum Commit</translation>
    </message>
    <message>
        <source>all but %1 of gradients, over %2 steps</source>
        <translation>alles außer %1 Gradienten, in %2 Schritten</translation>
    </message>
    <message>
        <source>Before the pause, %1 of gradients keep the copies up to date.</source>
        <translation>Vor der Pause halten %1 an Gradienten die Kopien aktuell.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::PalettePreview</name>
    <message>
        <source>Preview of the colours under four kinds of colour vision</source>
        <translation>Vorschau der Farben bei vier Arten des Farbensehens</translation>
    </message>
    <message>
        <source>Smallest difference between two of the nine: normal %1, deutan %2, protan %3, tritan %4</source>
        <translation>Kleinster Unterschied zweier der neun: normal %1, deutan %2, protan %3, tritan %4</translation>
    </message>
    <message>
        <source>Normal</source>
        <translation>Normal</translation>
    </message>
    <message>
        <source>Deutan: no green cones</source>
        <translation>Deutan: keine Grünzapfen</translation>
    </message>
    <message>
        <source>Protan: no red cones</source>
        <translation>Protan: keine Rotzapfen</translation>
    </message>
    <message>
        <source>Tritan: no blue cones</source>
        <translation>Tritan: keine Blauzapfen</translation>
    </message>
    <message>
        <source>closest two ΔE %1</source>
        <translation>ähnlichste zwei ΔE %1</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ParetoScatter</name>
    <message>
        <source>Configurations by step time and pause</source>
        <translation>Konfigurationen nach Schrittzeit und Pause</translation>
    </message>
    <message>
        <source>pause, ≈ s</source>
        <translation>Pause, ≈ s</translation>
    </message>
    <message>
        <source>step, ≈ s</source>
        <translation>Schritt, ≈ s</translation>
    </message>
</context>
<context>
    <name>tessera::ui::PassStrip</name>
    <message>
        <source>The pass over the data</source>
        <translation>Der Durchgang durch die Daten</translation>
    </message>
    <message>
        <source>%1 of %2 samples done</source>
        <translation>%1 von %2 Samples fertig</translation>
    </message>
    <message>
        <source>1 change of the mesh</source>
        <translation>1 Änderung des Mesh</translation>
    </message>
    <message>
        <source>%1 changes of the mesh</source>
        <translation>%1 Änderungen des Mesh</translation>
    </message>
    <message>
        <source>dp %1</source>
        <translation>dp %1</translation>
    </message>
    <message>
        <source>dp %1 → %2</source>
        <translation>dp %1 → %2</translation>
    </message>
    <message>
        <source>change %1, after step %2: %3 samples were done, dp %4 → %5</source>
        <translation>Änderung %1, nach Schritt %2: %3 Samples waren fertig, dp %4 → %5</translation>
    </message>
    <message>
        <source>position %1: done</source>
        <translation>Position %1: fertig</translation>
    </message>
    <message>
        <source>position %1: not read yet</source>
        <translation>Position %1: noch nicht gelesen</translation>
    </message>
</context>
<context>
    <name>tessera::ui::PictureDialog</name>
    <message>
        <source>Save…</source>
        <translation>Speichern…</translation>
    </message>
    <message>
        <source>Save a Picture</source>
        <translation>Bild speichern</translation>
    </message>
    <message>
        <source>Part of the window</source>
        <translation>Teil des Fensters</translation>
    </message>
    <message>
        <source> pixels</source>
        <translation> Pixel</translation>
    </message>
    <message>
        <source>Width in pixels</source>
        <translation>Breite in Pixeln</translation>
    </message>
    <message>
        <source>&amp;Part</source>
        <translation>&amp;Teil</translation>
    </message>
    <message>
        <source>&amp;Width</source>
        <translation>&amp;Breite</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Choose a file and save the picture</source>
        <translation>Eine Datei wählen und das Bild speichern</translation>
    </message>
    <message>
        <source>%1 × %2 pixels, %3 cm wide at 300 dpi. PNG has these pixels; SVG has lines and outlined letters, sharp at any size.</source>
        <translation>%1 × %2 Pixel, %3 cm breit bei 300 dpi. PNG hat diese Pixel; SVG hat Linien und Umrisse der Buchstaben, scharf in jeder Größe.</translation>
    </message>
    <message>
        <source>Save picture</source>
        <translation>Bild speichern</translation>
    </message>
    <message>
        <source>PNG pictures (*.png);;SVG drawings (*.svg)</source>
        <translation>PNG-Bilder (*.png);;SVG-Zeichnungen (*.svg)</translation>
    </message>
</context>
<context>
    <name>tessera::ui::PipelineBox</name>
    <message>
        <source>A step on the pipeline</source>
        <translation>Ein Schritt in der Pipeline</translation>
    </message>
    <message>
        <source>%1 stages, %2 micro-batches. A stage waits %3 of the time of the passes.</source>
        <translation>%1 Stages, %2 Micro-Batches. Eine Stage wartet %3 der Zeit der Durchgänge.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::PipelineChart</name>
    <message>
        <source>forward</source>
        <translation>vorwärts</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>rückwärts</translation>
    </message>
    <message>
        <source>send</source>
        <translation>senden</translation>
    </message>
    <message>
        <source>bubble (waits)</source>
        <translation>Bubble (wartet)</translation>
    </message>
    <message>
        <source>sums and update</source>
        <translation>Summen und Update</translation>
    </message>
    <message>
        <source>forward %1</source>
        <translation>vorwärts %1</translation>
    </message>
    <message>
        <source>backward %1</source>
        <translation>rückwärts %1</translation>
    </message>
    <message>
        <source>send %1</source>
        <translation>senden %1</translation>
    </message>
    <message>
        <source>waits %1</source>
        <translation>wartet %1</translation>
    </message>
    <message>
        <source>stage %1, micro-batches %2 to %3: %4</source>
        <translation>Stage %1, Micro-Batches %2 bis %3: %4</translation>
    </message>
    <message>
        <source>stage %1, micro-batch %2: %3</source>
        <translation>Stage %1, Micro-Batch %2: %3</translation>
    </message>
    <message>
        <source>from %1 to %2</source>
        <translation>von %1 bis %2</translation>
    </message>
    <message>
        <source>Schedule of a step on the pipeline</source>
        <translation>Ablauf eines Schritts in der Pipeline</translation>
    </message>
    <message>
        <source>stage %1: %2</source>
        <translation>Stage %1: %2</translation>
    </message>
    <message>
        <source>sums of gradients and update: %1</source>
        <translation>Summen der Gradienten und Update: %1</translation>
    </message>
</context>
<context>
    <name>tessera::ui::PipelineView</name>
    <message>
        <source>Measured: what the slowest rank of each stage computes in a step, and the step time. Modelled: a backward pass takes twice as long as a forward pass, all micro-batches are equal, and the time of a send.</source>
        <translation>Gemessen: was der langsamste Rank jeder Stage in einem Schritt rechnet, und die Schrittzeit. Modelliert: Ein Rückwärtsdurchgang dauert doppelt so lang wie ein Vorwärtsdurchgang, alle Micro-Batches sind gleich, und die Zeit einer Sendung.</translation>
    </message>
    <message>
        <source>Modelled by the cost model and scaled to the step time: these ranks report no compute time of each stage.</source>
        <translation>Vom Kostenmodell berechnet und auf die Schrittzeit skaliert: Diese Ranks melden keine Rechenzeit jeder Stage.</translation>
    </message>
    <message>
        <source>Modelled by the cost model for the drafted mesh; nothing is measured.</source>
        <translation>Vom Kostenmodell für das entworfene Mesh berechnet; nichts ist gemessen.</translation>
    </message>
    <message>
        <source>A model: equal stages, backward passes of twice the forward time, and sends that take no time.</source>
        <translation>Ein Modell: gleiche Stages, Rückwärtsdurchgänge von doppelter Dauer und Sendungen, die keine Zeit brauchen.</translation>
    </message>
    <message>
        <source>pp = 1: there is no pipeline. Each GPU runs the forward and the backward pass of one micro-batch after another.</source>
        <translation>pp = 1: Es gibt keine Pipeline. Jede GPU rechnet den Vorwärts- und den Rückwärtsdurchgang eines Micro-Batches nach dem anderen.</translation>
    </message>
    <message>
        <source>This job runs its own program. The order of its passes is not known.</source>
        <translation>Dieser Job führt ein eigenes Programm aus. Die Reihenfolge seiner Durchgänge ist nicht bekannt.</translation>
    </message>
    <message>
        <source>The passes of this job are not known.</source>
        <translation>Die Durchgänge dieses Jobs sind nicht bekannt.</translation>
    </message>
    <message>
        <source>%1 stages with %2 micro-batches are too many to draw.</source>
        <translation>%1 Stages mit %2 Micro-Batches sind zu viele für ein Bild.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::PlacedFile</name>
    <message>
        <source>header</source>
        <translation>Kopf</translation>
    </message>
</context>
<context>
    <name>tessera::ui::PlacementStrip</name>
    <message>
        <source>GPUs that hold the bytes</source>
        <translation>GPUs, die die Bytes halten</translation>
    </message>
    <message>
        <source>bytes %1 to %2: %3</source>
        <translation>Bytes %1 bis %2: %3</translation>
    </message>
    <message>
        <source>and %1 more replicas</source>
        <translation>und %1 weitere Replikate</translation>
    </message>
    <message>
        <source>created when read</source>
        <translation>entsteht beim Lesen</translation>
    </message>
    <message>
        <source>held by %1</source>
        <translation>gehalten von %1</translation>
    </message>
    <message>
        <source>%1
bytes %2 to %3, %4
%5</source>
        <translation>%1
Bytes %2 bis %3, %4
%5</translation>
    </message>
</context>
<context>
    <name>tessera::ui::PlacementTableModel</name>
    <message>
        <source>bytes of the file</source>
        <translation>Bytes der Datei</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <source>size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>tensor</source>
        <translation>Tensor</translation>
    </message>
    <message>
        <source>on</source>
        <translation>auf</translation>
    </message>
    <message>
        <source>no GPU</source>
        <translation>keine GPU</translation>
    </message>
    <message>
        <source>here</source>
        <translation>hier</translation>
    </message>
    <message>
        <source>Whether a replica is on this machine. Reading it then needs no transfer</source>
        <translation>Ob ein Replikat auf diesem Rechner liegt. Es zu lesen braucht dann keine Übertragung</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>ja</translation>
    </message>
    <message>
        <source>no</source>
        <translation>nein</translation>
    </message>
    <message>
        <source>%1 bytes</source>
        <translation>%1 Bytes</translation>
    </message>
</context>
<context>
    <name>tessera::ui::PlanMemory</name>
    <message>
        <source>now</source>
        <translation>jetzt</translation>
    </message>
    <message>
        <source>during the move</source>
        <translation>während des Umzugs</translation>
    </message>
    <message>
        <source>after it</source>
        <translation>danach</translation>
    </message>
    <message>
        <source>Memory of %1, the fullest during the move</source>
        <translation>Speicher von %1, der vollsten GPU während des Umzugs</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>belegt</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>fehlt</translation>
    </message>
    <message>
        <source>free</source>
        <translation>frei</translation>
    </message>
</context>
<context>
    <name>tessera::ui::PlanPanel</name>
    <message>
        <source>ZeRO</source>
        <translation>ZeRO</translation>
    </message>
    <message>
        <source>Copy command</source>
        <translation>Befehl kopieren</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>Plan</translation>
    </message>
    <message>
        <source>ZeRO: cut the optimizer state over the replicas</source>
        <translation>ZeRO: Optimizer-Zustand über die Replikate schneiden</translation>
    </message>
    <message>
        <source>Cut the optimizer state over the data-parallel replicas. Each GPU then needs less memory</source>
        <translation>Den Optimizer-Zustand über die datenparallelen Replikate schneiden. Jede GPU braucht dann weniger Speicher</translation>
    </message>
    <message>
        <source>micro-batch </source>
        <translation>Micro-Batch </translation>
    </message>
    <message>
        <source>micro-batch auto</source>
        <translation>Micro-Batch auto</translation>
    </message>
    <message>
        <source>Samples per forward and backward pass</source>
        <translation>Samples pro Vor- und Rückwärtsdurchgang</translation>
    </message>
    <message>
        <source>Samples per forward and backward pass. 0: the trainer chooses</source>
        <translation>Samples pro Vor- und Rückwärtsdurchgang. 0: Der Trainer wählt</translation>
    </message>
    <message>
        <source>Copy the plan as a command</source>
        <translation>Den Plan als Befehl kopieren</translation>
    </message>
    <message>
        <source>Copy the command line for the same plan</source>
        <translation>Die Befehlszeile für denselben Plan kopieren</translation>
    </message>
    <message>
        <source>Discard the draft</source>
        <translation>Den Entwurf verwerfen</translation>
    </message>
    <message>
        <source>Return to the live layout. Undo restores the draft</source>
        <translation>Zum Live-Layout zurückkehren. Rückgängig stellt den Entwurf wieder her</translation>
    </message>
    <message>
        <source>%1 degree</source>
        <translation>Grad von %1</translation>
    </message>
    <message>
        <source>Degree of %1. Typing or the arrow keys fix it</source>
        <translation>Grad von %1. Eintippen oder die Pfeiltasten halten ihn fest</translation>
    </message>
    <message>
        <source>Fix %1</source>
        <translation>%1 festhalten</translation>
    </message>
    <message>
        <source>Keep %1 at this value. The cluster chooses the degrees that are not fixed</source>
        <translation>%1 auf diesem Wert halten. Der Cluster wählt die Grade, die nicht festgehalten sind</translation>
    </message>
    <message>
        <source>no changes</source>
        <translation>keine Änderungen</translation>
    </message>
    <message>
        <source>new mesh</source>
        <translation>neues Mesh</translation>
    </message>
    <message>
        <source>draft %1</source>
        <translation>Entwurf %1</translation>
    </message>
    <message>
        <source>planning…</source>
        <translation>wird geplant…</translation>
    </message>
    <message>
        <source>%1 = %2 of %3</source>
        <translation>%1 = %2 von %3</translation>
    </message>
    <message>
        <source>global batch stays %1: 1 sample per replica</source>
        <translation>globaler Batch bleibt %1: 1 Sample pro Replikat</translation>
    </message>
    <message>
        <source>global batch stays %1: %2 samples per replica</source>
        <translation>globaler Batch bleibt %1: %2 Samples pro Replikat</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>Anwenden</translation>
    </message>
    <message>
        <source>Apply: read-only panel</source>
        <translation>Anwenden: nur lesen</translation>
    </message>
    <message>
        <source>Apply: only in Operate</source>
        <translation>Anwenden: nur im Bedienen</translation>
    </message>
    <message>
        <source>Applying…</source>
        <translation>Wird angewendet…</translation>
    </message>
    <message>
        <source>Apply: move %1</source>
        <translation>Anwenden: %1 verschieben</translation>
    </message>
    <message>
        <source>Apply: move %1…</source>
        <translation>Anwenden: %1 verschieben…</translation>
    </message>
    <message>
        <source>Carry out the change. Until the commit it can be rolled back</source>
        <translation>Die Änderung ausführen. Bis zum Commit lässt sie sich zurückrollen</translation>
    </message>
    <message>
        <source>Configurations</source>
        <translation>Konfigurationen</translation>
    </message>
    <message>
        <source>Configurations that the job could use</source>
        <translation>Konfigurationen, die der Job nutzen könnte</translation>
    </message>
    <message>
        <source>Configurations appear once the job has GPUs.</source>
        <translation>Konfigurationen erscheinen, sobald der Job GPUs hat.</translation>
    </message>
    <message>
        <source>Requesting configurations…</source>
        <translation>Konfigurationen werden angefordert…</translation>
    </message>
    <message>
        <source>There are no configurations: %1.</source>
        <translation>Es gibt keine Konfigurationen: %1.</translation>
    </message>
    <message>
        <source>No configuration of the job uses these GPUs.</source>
        <translation>Keine Konfiguration des Jobs nutzt diese GPUs.</translation>
    </message>
    <message>
        <source>Based on built-in constants. Run tesseractl probe to measure this cluster.</source>
        <translation>Beruht auf eingebauten Konstanten. tesseractl probe misst diesen Cluster.</translation>
    </message>
    <message>
        <source>%1 (at most %2 % above the least)</source>
        <translation>%1 (höchstens %2 % über dem Minimum)</translation>
    </message>
    <message>
        <source>%1 (provably the least)</source>
        <translation>%1 (beweisbar minimal)</translation>
    </message>
    <message>
        <source>Recommended: %1, %2</source>
        <translation>Empfohlen: %1, %2</translation>
    </message>
    <message>
        <source>Planning…</source>
        <translation>Plan entsteht…</translation>
    </message>
    <message>
        <source>No plan</source>
        <translation>Kein Plan</translation>
    </message>
    <message>
        <source>What will happen: planning…</source>
        <translation>Was geschehen wird: Plan entsteht…</translation>
    </message>
    <message>
        <source>What will happen</source>
        <translation>Was geschehen wird</translation>
    </message>
    <message>
        <source>stay</source>
        <translation>bleiben</translation>
    </message>
    <message>
        <source>in node</source>
        <translation>im Knoten</translation>
    </message>
    <message>
        <source>network</source>
        <translation>Netzwerk</translation>
    </message>
    <message>
        <source>storage</source>
        <translation>Sicherung</translation>
    </message>
    <message>
        <source>pause (estimate)</source>
        <translation>Pause (geschätzt)</translation>
    </message>
    <message>
        <source>≈ %1</source>
        <translation>≈ %1</translation>
    </message>
    <message>
        <source>, now ≈ %1</source>
        <translation>, jetzt ≈ %1</translation>
    </message>
    <message>
        <source>step (estimate)</source>
        <translation>Schritt (geschätzt)</translation>
    </message>
    <message>
        <source>peak memory</source>
        <translation>höchste Belegung</translation>
    </message>
    <message>
        <source>highest on %1</source>
        <translation>am höchsten auf %1</translation>
    </message>
    <message>
        <source>busiest port</source>
        <translation>vollster Port</translation>
    </message>
    <message>
        <source>nothing moves</source>
        <translation>nichts bewegt sich</translation>
    </message>
    <message>
        <source>%1. Least of any plan: %2 direct, %3 with relay. Bandwidths: %4</source>
        <translation>%1. Minimum aller Pläne: %2 direkt, %3 mit Weiterleitung. Bandbreiten: %4</translation>
    </message>
    <message>
        <source>relayed</source>
        <translation>weitergeleitet</translation>
    </message>
    <message>
        <source>%1 over the network instead of %2</source>
        <translation>%1 über das Netzwerk statt %2</translation>
    </message>
    <message>
        <source>held only once</source>
        <translation>nur einmal gehalten</translation>
    </message>
    <message>
        <source>%1 in %2 shards</source>
        <translation>%1 in %2 Shards</translation>
    </message>
    <message>
        <source>unused</source>
        <translation>ungenutzt</translation>
    </message>
    <message>
        <source>does not fit on</source>
        <translation>passt nicht auf</translation>
    </message>
    <message>
        <source>Move in rounds</source>
        <translation>In Runden bewegen</translation>
    </message>
    <message>
        <source>Move: least pause</source>
        <translation>Mit der kürzesten Pause bewegen</translation>
    </message>
    <message>
        <source>Move while training</source>
        <translation>Beim Training bewegen</translation>
    </message>
    <message>
        <source>Move in the pause</source>
        <translation>In der Pause bewegen</translation>
    </message>
    <message>
        <source>How the state moves</source>
        <translation>Wie sich der Zustand bewegt</translation>
    </message>
    <message>
        <source>In rounds, where memory is short: each frees what the one before has moved, and there is no rollback from the first on</source>
        <translation>In Runden, wo der Speicher knapp ist: Jede gibt frei, was die vorige bewegt hat, und ab der ersten gibt es kein Zurück</translation>
    </message>
    <message>
        <source>loss of any node</source>
        <translation>Verlust eines Knotens</translation>
    </message>
    <message>
        <source>State of which no other node holds a copy</source>
        <translation>Zustand, von dem kein anderer Knoten eine Kopie hält</translation>
    </message>
    <message>
        <source>≈ step · moves · ≈ pause, not calibrated</source>
        <translation>≈ Schritt · bewegt · ≈ Pause, nicht kalibriert</translation>
    </message>
    <message>
        <source>≈ step · moves · ≈ pause</source>
        <translation>≈ Schritt · bewegt · ≈ Pause</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Details</translation>
    </message>
    <message>
        <source>Details of the plan</source>
        <translation>Details des Plans</translation>
    </message>
    <message>
        <source>Show all facts of the plan, and the configurations as a plot</source>
        <translation>Alle Angaben des Plans zeigen und die Konfigurationen als Diagramm</translation>
    </message>
    <message>
        <source>Drag a GPU, choose above, or edit an axis</source>
        <translation>Eine GPU ziehen, oben wählen oder eine Achse ändern</translation>
    </message>
</context>
<context>
    <name>tessera::ui::PlotBand</name>
    <message>
        <source>Change %1: %2, pause %3, %4</source>
        <translation>Änderung %1: %2, Pause %3, %4</translation>
    </message>
    <message>
        <source>now</source>
        <translation>jetzt</translation>
    </message>
    <message>
        <source>%1 → %2, %3</source>
        <translation>%1 → %2, %3</translation>
    </message>
    <message>
        <source>gap between the steps around it: %1</source>
        <translation>Lücke zwischen den Schritten davor und danach: %1</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ProfileFields</name>
    <message>
        <source>Enter a name for the cluster.</source>
        <translation>Einen Namen für den Cluster eingeben.</translation>
    </message>
    <message>
        <source>Use lower-case letters, digits and dashes, at most 63.</source>
        <translation>Kleinbuchstaben, Ziffern und Striche verwenden, höchstens 63.</translation>
    </message>
    <message>
        <source>A profile named %1 already exists.</source>
        <translation>Ein Profil mit dem Namen %1 gibt es schon.</translation>
    </message>
    <message>
        <source>For example tcp://10.0.0.5:40001</source>
        <translation>Zum Beispiel tcp://10.0.0.5:40001</translation>
    </message>
    <message>
        <source>The path after ipc:// is missing.</source>
        <translation>Der Pfad nach ipc:// fehlt.</translation>
    </message>
    <message>
        <source>The address must be tcp://HOST:PORT.</source>
        <translation>Die Adresse muss tcp://HOST:PORT sein.</translation>
    </message>
    <message>
        <source>Port %1 is not between 1 and 65535.</source>
        <translation>Port %1 liegt nicht zwischen 1 und 65535.</translation>
    </message>
    <message>
        <source>Events use a different port than the registrar.</source>
        <translation>Ereignisse nutzen einen anderen Port als der Registrar.</translation>
    </message>
    <message>
        <source>Enter the cluster&apos;s public key, 40 characters.</source>
        <translation>Den öffentlichen Schlüssel des Clusters eingeben, 40 Zeichen.</translation>
    </message>
    <message>
        <source>A public key has 40 characters; this one has %1.</source>
        <translation>Ein öffentlicher Schlüssel hat 40 Zeichen; dieser hat %1.</translation>
    </message>
    <message>
        <source>A public key cannot contain &apos;%1&apos;.</source>
        <translation>Ein öffentlicher Schlüssel kann „%1“ nicht enthalten.</translation>
    </message>
    <message>
        <source>Enter the file of your own key pair.</source>
        <translation>Die Datei des eigenen Schlüsselpaars eingeben.</translation>
    </message>
    <message>
        <source>Enter the full path, starting with /.</source>
        <translation>Den vollen Pfad eingeben, beginnend mit /.</translation>
    </message>
    <message>
        <source>This file does not exist.</source>
        <translation>Diese Datei gibt es nicht.</translation>
    </message>
    <message>
        <source>This path is not a file.</source>
        <translation>Dieser Pfad ist keine Datei.</translation>
    </message>
    <message>
        <source>You have no permission to read this file.</source>
        <translation>Diese Datei zu lesen ist nicht erlaubt.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ProfileForm</name>
    <message>
        <source>Add cluster</source>
        <translation>Cluster hinzufügen</translation>
    </message>
    <message>
        <source>Add a cluster</source>
        <translation>Einen Cluster hinzufügen</translation>
    </message>
    <message>
        <source>Paste a profile file here, or fill in the fields below</source>
        <translation>Eine Profildatei hier einfügen oder die Felder unten ausfüllen</translation>
    </message>
    <message>
        <source>Text of a profile file</source>
        <translation>Text einer Profildatei</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Registrar</source>
        <translation>Registrar</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Ereignisse</translation>
    </message>
    <message>
        <source>Server key</source>
        <translation>Server-Schlüssel</translation>
    </message>
    <message>
        <source>the cluster&apos;s public key</source>
        <translation>öffentlicher Schlüssel des Clusters</translation>
    </message>
    <message>
        <source>Key file</source>
        <translation>Schlüsseldatei</translation>
    </message>
    <message>
        <source>your own key pair</source>
        <translation>eigenes Schlüsselpaar</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen…</translation>
    </message>
    <message>
        <source>Choose the key file</source>
        <translation>Die Schlüsseldatei wählen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Close without adding a cluster</source>
        <translation>Schließen, ohne einen Cluster hinzuzufügen</translation>
    </message>
    <message>
        <source>Some fields are missing or invalid.</source>
        <translation>Einige Felder fehlen oder sind ungültig.</translation>
    </message>
    <message>
        <source>Profile read. Check the key file: the path must be on this machine.</source>
        <translation>Profil gelesen. Die Schlüsseldatei prüfen: Der Pfad muss auf diesem Rechner liegen.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ProgressPanel</name>
    <message>
        <source>Cancel and roll back</source>
        <translation>Abbrechen und zurückrollen</translation>
    </message>
    <message>
        <source>Save report…</source>
        <translation>Bericht speichern…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Plan the next change</source>
        <translation>Nächste Änderung planen</translation>
    </message>
    <message>
        <source>Save a report of the change</source>
        <translation>Einen Bericht über die Änderung speichern</translation>
    </message>
    <message>
        <source>Close the outcome</source>
        <translation>Das Ergebnis schließen</translation>
    </message>
    <message>
        <source>Plan an undo…</source>
        <translation>Rücknahme planen…</translation>
    </message>
    <message>
        <source>Plan again…</source>
        <translation>Erneut planen…</translation>
    </message>
</context>
<context>
    <name>tessera::ui::Report</name>
    <message>
        <source>Not recorded.</source>
        <translation>Nicht aufgezeichnet.</translation>
    </message>
    <message>
        <source>the job is paused</source>
        <translation>der Job ist angehalten</translation>
    </message>
    <message>
        <source>the job trains</source>
        <translation>der Job trainiert</translation>
    </message>
    <message>
        <source>The digests of the state were not recorded.</source>
        <translation>Die Digests des Zustands wurden nicht aufgezeichnet.</translation>
    </message>
    <message>
        <source>The state is the same before and after. Its digest:</source>
        <translation>Der Zustand ist davor und danach derselbe. Sein Digest:</translation>
    </message>
    <message>
        <source>The digests differ:</source>
        <translation>Die Digests sind verschieden:</translation>
    </message>
    <message>
        <source>%1 moved between GPUs.</source>
        <translation>%1 wurden zwischen GPUs verschoben.</translation>
    </message>
    <message>
        <source>%1 moved. No plan for this change can move less.</source>
        <translation>%1 wurden verschoben. Kein Plan für diese Änderung kommt mit weniger aus.</translation>
    </message>
    <message>
        <source>%1 moved. Every plan for this change moves at least %2.</source>
        <translation>%1 wurden verschoben. Jeder Plan für diese Änderung verschiebt mindestens %2.</translation>
    </message>
    <message>
        <source>Change %1 of %2</source>
        <translation>Änderung %1 von %2</translation>
    </message>
    <message>
        <source>cluster</source>
        <translation>Cluster</translation>
    </message>
    <message>
        <source>requested by</source>
        <translation>angefordert von</translation>
    </message>
    <message>
        <source>GPUs before</source>
        <translation>GPUs davor</translation>
    </message>
    <message>
        <source>GPUs after</source>
        <translation>GPUs danach</translation>
    </message>
    <message>
        <source>options before</source>
        <translation>Optionen davor</translation>
    </message>
    <message>
        <source>options after</source>
        <translation>Optionen danach</translation>
    </message>
    <message>
        <source>after step</source>
        <translation>nach Schritt</translation>
    </message>
    <message>
        <source>epoch</source>
        <translation>Epoche</translation>
    </message>
    <message>
        <source>Before the change</source>
        <translation>Vor der Änderung</translation>
    </message>
    <message>
        <source>After the change</source>
        <translation>Nach der Änderung</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>The job was paused for %1; the plan estimated %2.</source>
        <translation>Der Job pausierte %1; der Plan hatte %2 geschätzt.</translation>
    </message>
    <message>
        <source>The job was paused for %1.</source>
        <translation>Der Job pausierte %1.</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <source>stayed on their GPU</source>
        <translation>blieben auf ihrer GPU</translation>
    </message>
    <message>
        <source>inside a host</source>
        <translation>innerhalb eines Hosts</translation>
    </message>
    <message>
        <source>over the network</source>
        <translation>über das Netzwerk</translation>
    </message>
    <message>
        <source>Flows, largest first</source>
        <translation>Flüsse, größte zuerst</translation>
    </message>
    <message>
        <source>from</source>
        <translation>von</translation>
    </message>
    <message>
        <source>to</source>
        <translation>nach</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <source>SIMULATED</source>
        <translation>SIMULIERT</translation>
    </message>
    <message>
        <source>simulated</source>
        <translation>simuliert</translation>
    </message>
    <message>
        <source>on modelled hardware %1: nothing was trained</source>
        <translation>auf modellierter Hardware %1: Nichts wurde trainiert</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ScenePainter</name>
    <message>
        <source>Pool</source>
        <translation>Pool</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>leer</translation>
    </message>
    <message>
        <source>%1 idle</source>
        <comment>4 GPUs idle</comment>
        <translation>%1 frei</translation>
    </message>
    <message>
        <source>, %1 lost</source>
        <translation>, %1 verloren</translation>
    </message>
    <message>
        <source>drop GPUs here to remove them from the job</source>
        <translation>GPUs hier ablegen, um sie aus dem Job zu nehmen</translation>
    </message>
    <message>
        <source>Drag GPUs here to add them to %1</source>
        <translation>GPUs für %1 hierher ziehen</translation>
    </message>
    <message>
        <source>or select them in the pool and press Space</source>
        <translation>oder im Pool auswählen und die Leertaste drücken</translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation>%1 frei</translation>
    </message>
    <message>
        <source>%1 idle on %2</source>
        <comment>16 GPUs idle on 2 nodes</comment>
        <translation>%1 frei auf %2</translation>
    </message>
</context>
<context>
    <name>tessera::ui::Settings</name>
    <message>
        <source>The settings in %1 cannot be read (%2). The panel uses its defaults.</source>
        <translation>Die Einstellungen in %1 sind nicht lesbar (%2). Das Panel nutzt die Vorgaben.</translation>
    </message>
    <message>
        <source>The settings file was damaged (%1). The panel uses its defaults and kept the file as %2.</source>
        <translation>Die Datei der Einstellungen war beschädigt (%1). Das Panel nutzt die Vorgaben und hat die Datei als %2 aufbewahrt.</translation>
    </message>
    <message>
        <source>The settings file was damaged (%1). The panel uses its defaults.</source>
        <translation>Die Datei der Einstellungen war beschädigt (%1). Das Panel nutzt die Vorgaben.</translation>
    </message>
    <message>
        <source>no folder %1</source>
        <translation>kein Ordner %1</translation>
    </message>
    <message>
        <source>the new file could not be renamed</source>
        <translation>die neue Datei ließ sich nicht umbenennen</translation>
    </message>
</context>
<context>
    <name>tessera::ui::SettingsDialog</name>
    <message>
        <source>General</source>
        <translation>Allgemein</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>System</source>
        <translation>System</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>Farben</translation>
    </message>
    <message>
        <source>System follows the desktop.</source>
        <translation>System folgt dem Desktop.</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>Reduce motion</source>
        <translation>Weniger Bewegung</translation>
    </message>
    <message>
        <source>Shows static arrows and percentages instead of moving dots.</source>
        <translation>Zeigt feste Pfeile und Prozente statt bewegter Punkte.</translation>
    </message>
    <message>
        <source>Desktop notices</source>
        <translation>Desktop-Hinweise</translation>
    </message>
    <message>
        <source>When a change ends or needs a decision while another window is active.</source>
        <translation>Wenn eine Änderung endet oder eine Entscheidung braucht, während ein anderes Fenster aktiv ist.</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Scales the whole panel, for projectors and small screens.</source>
        <translation>Skaliert das ganze Panel, für Projektoren und kleine Bildschirme.</translation>
    </message>
    <message>
        <source>Takes effect after a restart.</source>
        <translation>Wirkt nach einem Neustart.</translation>
    </message>
    <message>
        <source>Restart the panel now</source>
        <translation>Panel jetzt neu starten</translation>
    </message>
    <message>
        <source>Nine colours name the shards of a model; further shards repeat them with a pattern. Four more mark states, always together with a shape. The preview shows them for each kind of colour vision, with the difference between the two closest colours (a ΔE2000 of 2 is just visible).</source>
        <translation>Neun Farben bezeichnen die Shards eines Modells; weitere Shards wiederholen sie mit einem Muster. Vier weitere kennzeichnen Zustände, immer zusammen mit einer Form. Die Vorschau zeigt sie für jede Art des Farbensehens, mit dem Unterschied der beiden ähnlichsten Farben (ein ΔE2000 von 2 ist gerade sichtbar).</translation>
    </message>
    <message>
        <source>Shard colours: Paul Tol&apos;s scheme &quot;muted&quot;. Simulation: Machado, Oliveira, Fernandes 2009, severity 1.</source>
        <translation>Farben der Shards: Paul Tols Schema „muted“. Simulation: Machado, Oliveira, Fernandes 2009, Schweregrad 1.</translation>
    </message>
    <message>
        <source>Safety</source>
        <translation>Sicherheit</translation>
    </message>
    <message>
        <source>Countdown in live mode</source>
        <translation>Countdown im Live-Modus</translation>
    </message>
    <message>
        <source>Time between a drop and the start of its change. Esc stops it.</source>
        <translation>Zeit zwischen Ablegen und Beginn der Änderung. Esc hält ihn an.</translation>
    </message>
    <message>
        <source>s</source>
        <translation>s</translation>
    </message>
    <message>
        <source>Lock automatically</source>
        <translation>Automatisch sperren</translation>
    </message>
    <message>
        <source>Operate returns to Monitor after this time without input.</source>
        <translation>Bedienen wird nach dieser Zeit ohne Eingabe zu Beobachten.</translation>
    </message>
    <message>
        <source>min</source>
        <translation>min</translation>
    </message>
    <message>
        <source>Ask before a change</source>
        <translation>Vor einer Änderung fragen</translation>
    </message>
    <message>
        <source>Applies outside live mode. Cancel is always safe.</source>
        <translation>Gilt außerhalb des Live-Modus. Abbrechen ist immer sicher.</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>Immer</translation>
    </message>
    <message>
        <source>Large changes</source>
        <translation>Nur bei großen</translation>
    </message>
    <message>
        <source>MiB</source>
        <translation>MiB</translation>
    </message>
    <message>
        <source>A change is large above</source>
        <translation>Eine Änderung ist groß ab</translation>
    </message>
    <message>
        <source>Counts the bytes that move to another GPU.</source>
        <translation>Zählt die Bytes, die auf eine andere GPU wandern.</translation>
    </message>
    <message>
        <source>A change that cannot be rolled back always asks.</source>
        <translation>Vor einer Änderung, die sich nicht zurückrollen lässt, wird immer gefragt.</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>Keep a copy of the history</source>
        <translation>Kopie des Verlaufs behalten</translation>
    </message>
    <message>
        <source>Stores changes, events and samples of the clusters that you watch, to read them without a connection.</source>
        <translation>Speichert Änderungen, Ereignisse und Messwerte der beobachteten Cluster, um sie ohne Verbindung zu lesen.</translation>
    </message>
    <message>
        <source>Maximum size of a copy</source>
        <translation>Größe einer Kopie höchstens</translation>
    </message>
    <message>
        <source>Per cluster. The oldest samples are deleted first.</source>
        <translation>Pro Cluster. Die ältesten Messwerte werden zuerst gelöscht.</translation>
    </message>
    <message>
        <source>Copies</source>
        <translation>Kopien</translation>
    </message>
    <message>
        <source>Profiles, keys, local clusters</source>
        <translation>Profile, Schlüssel, lokale Cluster</translation>
    </message>
    <message>
        <source>Only you can read these files. Nothing is sent anywhere.</source>
        <translation>Niemand sonst kann diese Dateien lesen. Nichts wird verschickt.</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>leer</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Open %1</source>
        <translation>%1 öffnen</translation>
    </message>
    <message>
        <source>%1 in %2</source>
        <translation>%1 in %2</translation>
    </message>
    <message>
        <source>Reset this page</source>
        <translation>Seite zurücksetzen</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Pages</source>
        <translation>Seiten</translation>
    </message>
    <message>
        <source>Reset this page to its defaults</source>
        <translation>Diese Seite auf ihre Vorgaben zurücksetzen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Also the format of numbers and dates. Some of what clusters report is in English.</source>
        <translation>Gilt auch für Zahlen und Datumsangaben. Manche Meldungen der Cluster sind englisch.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::SettingsPage</name>
    <message>
        <source>%L1 to %L2 %3</source>
        <translation>%L1 bis %L2 %3</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ShareTableModel</name>
    <message>
        <source>rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>dp %1</source>
        <translation>dp %1</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPUs</translation>
    </message>
    <message>
        <source>samples</source>
        <translation>Samples</translation>
    </message>
    <message>
        <source>positions of the pass</source>
        <translation>Positionen des Durchgangs</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <source>sample numbers</source>
        <translation>Nummern der Samples</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ShortcutSheet</name>
    <message>
        <source>Shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>All actions and their shortcuts</source>
        <translation>Alle Aktionen und ihre Tastenkürzel</translation>
    </message>
    <message>
        <source>Action</source>
        <translation>Aktion</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Tasten</translation>
    </message>
    <message>
        <source>Description</source>
        <translation>Beschreibung</translation>
    </message>
</context>
<context>
    <name>tessera::ui::ShortcutsPage</name>
    <message>
        <source>Shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Set</source>
        <translation>Setzen</translation>
    </message>
    <message>
        <source>No key</source>
        <translation>Keine Taste</translation>
    </message>
    <message>
        <source>Default</source>
        <translation>Vorgabe</translation>
    </message>
    <message>
        <source>Find an action or a key</source>
        <translation>Aktion oder Taste finden</translation>
    </message>
    <message>
        <source>Actions and their keys</source>
        <translation>Aktionen und ihre Tasten</translation>
    </message>
    <message>
        <source>Action</source>
        <translation>Aktion</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Tasten</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>Menü</translation>
    </message>
    <message>
        <source>New keys</source>
        <translation>Neue Tasten</translation>
    </message>
    <message>
        <source>Set the keys</source>
        <translation>Die Tasten setzen</translation>
    </message>
    <message>
        <source>Remove the keys</source>
        <translation>Die Tasten entfernen</translation>
    </message>
    <message>
        <source>Restore the default keys</source>
        <translation>Die Tasten der Vorgabe wiederherstellen</translation>
    </message>
    <message>
        <source>Default: %1</source>
        <translation>Vorgabe: %1</translation>
    </message>
    <message>
        <source>Enter a single key combination.</source>
        <translation>Eine einzelne Tastenkombination eingeben.</translation>
    </message>
    <message>
        <source>%1 is already used by %2.</source>
        <translation>%1 wird schon von %2 genutzt.</translation>
    </message>
    <message>
        <source>The mesh handles this key. It cannot be changed.</source>
        <translation>Das Mesh nutzt diese Taste. Sie lässt sich nicht ändern.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::SimulateDialog</name>
    <message>
        <source>Simulate</source>
        <translation>Simulieren</translation>
    </message>
    <message>
        <source>Simulate a Cluster</source>
        <translation>Cluster simulieren</translation>
    </message>
    <message>
        <source>One process plays all nodes: the real registrar and agents, with modelled GPUs and links. Nothing is trained, and no GPU is needed.</source>
        <translation>Ein Prozess spielt alle Knoten: der echte Registrar und echte Agenten, mit modellierten GPUs und Leitungen. Nichts wird trainiert, und keine GPU wird gebraucht.</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <source>GPUs per node</source>
        <translation>GPUs pro Knoten</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>Hardware</translation>
    </message>
    <message>
        <source>&amp;Nodes</source>
        <translation>&amp;Knoten</translation>
    </message>
    <message>
        <source>&amp;GPUs per node</source>
        <translation>&amp;GPUs pro Knoten</translation>
    </message>
    <message>
        <source>&amp;Hardware</source>
        <translation>&amp;Hardware</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Start the simulated cluster</source>
        <translation>Den simulierten Cluster starten</translation>
    </message>
    <message>
        <source>%1 GPUs: at most %2 are simulated.</source>
        <translation>%1 GPUs: Höchstens %2 werden simuliert.</translation>
    </message>
    <message numerus="yes">
        <source>%n GPU(s); half of the nodes begin with a job that trains.</source>
        <translation>
            <numerusform>%n GPU; die Hälfte der Knoten beginnt mit einem Job, der trainiert.</numerusform>
            <numerusform>%n GPUs; die Hälfte der Knoten beginnt mit einem Job, der trainiert.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tessera::ui::StartForm</name>
    <message>
        <source>Precision</source>
        <translation>Genauigkeit</translation>
    </message>
    <message>
        <source>Type of the parameters. bf16 keeps fp32 masters beside them.</source>
        <translation>Typ der Parameter. bf16 behält daneben fp32-Master.</translation>
    </message>
    <message>
        <source>Dropout</source>
        <translation>Dropout</translation>
    </message>
    <message>
        <source>Probability of dropout in embeddings, attention and residual branches.</source>
        <translation>Wahrscheinlichkeit von Dropout in Embeddings, Attention und Residualzweigen.</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>Lernrate</translation>
    </message>
    <message>
        <source>Highest rate, after the warm-up.</source>
        <translation>Höchste Rate, nach dem Warm-up.</translation>
    </message>
    <message>
        <source>Lowest learning rate</source>
        <translation>Kleinste Lernrate</translation>
    </message>
    <message>
        <source>Rate at the end of the cosine.</source>
        <translation>Rate am Ende des Kosinus.</translation>
    </message>
    <message>
        <source>Warm-up steps</source>
        <translation>Warm-up-Schritte</translation>
    </message>
    <message>
        <source>Steps in which the learning rate rises to its highest value.</source>
        <translation>Schritte, in denen die Lernrate auf ihren höchsten Wert steigt.</translation>
    </message>
    <message>
        <source>Cosine steps</source>
        <translation>Kosinus-Schritte</translation>
    </message>
    <message>
        <source>Steps in which the learning rate falls to its lowest value.</source>
        <translation>Schritte, in denen die Lernrate auf ihren kleinsten Wert fällt.</translation>
    </message>
    <message>
        <source>Weight decay</source>
        <translation>Weight-Decay</translation>
    </message>
    <message>
        <source>Decoupled weight decay of AdamW.</source>
        <translation>Entkoppelter Weight-Decay von AdamW.</translation>
    </message>
    <message>
        <source>Beta 1</source>
        <translation>Beta 1</translation>
    </message>
    <message>
        <source>Decay of AdamW&apos;s first moment.</source>
        <translation>Abklingen des ersten Moments von AdamW.</translation>
    </message>
    <message>
        <source>Beta 2</source>
        <translation>Beta 2</translation>
    </message>
    <message>
        <source>Decay of AdamW&apos;s second moment.</source>
        <translation>Abklingen des zweiten Moments von AdamW.</translation>
    </message>
    <message>
        <source>Epsilon</source>
        <translation>Epsilon</translation>
    </message>
    <message>
        <source>Added to the denominator of AdamW.</source>
        <translation>Wird zum Nenner von AdamW addiert.</translation>
    </message>
    <message>
        <source>Largest gradient norm</source>
        <translation>Größte Gradientennorm</translation>
    </message>
    <message>
        <source>Gradients with a larger norm are scaled down; 0 switches this off.</source>
        <translation>Gradienten mit größerer Norm werden verkleinert; 0 schaltet das ab.</translation>
    </message>
    <message>
        <source>Collective timeout</source>
        <translation>Timeout der Kollektive</translation>
    </message>
    <message>
        <source>Seconds that a rank waits for another in one collective; 0: 20 usual steps, at least 30 s.</source>
        <translation>Sekunden, die ein Rank in einer kollektiven Operation auf einen anderen wartet; 0: 20 übliche Schritte, mindestens 30 s.</translation>
    </message>
    <message>
        <source>Data at a change</source>
        <translation>Daten bei Änderung</translation>
    </message>
    <message>
        <source>What happens to the position in the data when the mesh changes. All but keep are deliberate mistakes for lessons.</source>
        <translation>Was mit der Position in den Daten geschieht, wenn sich das Mesh ändert. Alles außer keep ist ein absichtlicher Fehler für Lektionen.</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <source>Blocks of the model.</source>
        <translation>Blöcke des Modells.</translation>
    </message>
    <message>
        <source>Width</source>
        <translation>Breite</translation>
    </message>
    <message>
        <source>Size of a hidden state. The heads divide it.</source>
        <translation>Größe eines verborgenen Zustands. Die Köpfe teilen ihn.</translation>
    </message>
    <message>
        <source>Heads</source>
        <translation>Köpfe</translation>
    </message>
    <message>
        <source>Attention heads of a layer.</source>
        <translation>Attention-Köpfe einer Schicht.</translation>
    </message>
    <message>
        <source>Key and value heads</source>
        <translation>Key-Value-Köpfe</translation>
    </message>
    <message>
        <source>Shared by groups of heads; 0: as many as heads.</source>
        <translation>Von Gruppen von Köpfen geteilt; 0: so viele wie Köpfe.</translation>
    </message>
    <message>
        <source>Feed-forward width</source>
        <translation>Feed-Forward-Breite</translation>
    </message>
    <message>
        <source>Inner size of the MLP.</source>
        <translation>Innere Größe des MLP.</translation>
    </message>
    <message>
        <source>Vocabulary</source>
        <translation>Vokabular</translation>
    </message>
    <message>
        <source>Different tokens.</source>
        <translation>Verschiedene Tokens.</translation>
    </message>
    <message>
        <source>Sequence</source>
        <translation>Sequenz</translation>
    </message>
    <message>
        <source>Tokens of a sample.</source>
        <translation>Tokens eines Samples.</translation>
    </message>
    <message>
        <source>Gated MLP</source>
        <translation>Gated MLP</translation>
    </message>
    <message>
        <source>SwiGLU in place of GELU.</source>
        <translation>SwiGLU statt GELU.</translation>
    </message>
    <message>
        <source>Tied head</source>
        <translation>Gebundener Kopf</translation>
    </message>
    <message>
        <source>The head is the token embedding.</source>
        <translation>Der Ausgabekopf ist das Token-Embedding.</translation>
    </message>
    <message>
        <source>GELU</source>
        <translation>GELU</translation>
    </message>
    <message>
        <source>Form of GELU of an MLP that is not gated.</source>
        <translation>Form von GELU eines MLP ohne Gate.</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <source>Use lower-case letters, digits and dashes, at most 63.</source>
        <translation>Kleinbuchstaben, Ziffern und Striche verwenden, höchstens 63.</translation>
    </message>
    <message>
        <source>There is a job %1 already.</source>
        <translation>Es gibt schon einen Job %1.</translation>
    </message>
    <message>
        <source>Enter the full path, starting with /.</source>
        <translation>Den vollen Pfad eingeben, beginnend mit /.</translation>
    </message>
    <message>
        <source>This file does not exist.</source>
        <translation>Diese Datei gibt es nicht.</translation>
    </message>
    <message>
        <source>%1 is not a number from %2.</source>
        <translation>%1 ist keine Zahl von %2.</translation>
    </message>
    <message>
        <source>%1 is not a full path, starting with /.</source>
        <translation>%1 ist kein voller Pfad, der mit / beginnt.</translation>
    </message>
    <message>
        <source>%1 is not a number from %2 to %3.</source>
        <translation>%1 ist keine Zahl von %2 bis %3.</translation>
    </message>
    <message>
        <source>%1 is neither steps (20) nor a time (30s, 5m, 1h).</source>
        <translation>%1 sind weder Schritte (20) noch eine Zeit (30s, 5m, 1h).</translation>
    </message>
    <message>
        <source>%1 is not a number from 1 to %2, the idle GPUs.</source>
        <translation>%1 ist keine Zahl von 1 bis %2, den freien GPUs.</translation>
    </message>
    <message>
        <source>Enter a number of GPUs, or their names, such as n0g0,n0g1.</source>
        <translation>Eine Zahl von GPUs oder ihre Namen eingeben, etwa n0g0,n0g1.</translation>
    </message>
    <message>
        <source>No GPU is idle: %1 uses %2. Take some out of it, or stop it.</source>
        <translation>Keine GPU ist frei: %1 nutzt %2. Einige herausnehmen oder den Job beenden.</translation>
    </message>
    <message>
        <source>No GPU is idle.</source>
        <translation>Keine GPU ist frei.</translation>
    </message>
    <message>
        <source>%1 is used by %2.</source>
        <translation>%1 wird von %2 genutzt.</translation>
    </message>
    <message>
        <source>%1 is not an idle GPU of this cluster.</source>
        <translation>%1 ist keine freie GPU dieses Clusters.</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Startwert</translation>
    </message>
    <message>
        <source>Of the initial state and of the order of samples.</source>
        <translation>Des Anfangszustands und der Reihenfolge der Samples.</translation>
    </message>
    <message>
        <source>%1 parameters · %2 layers · %3 of state</source>
        <translation>%1 Parameter · %2 Schichten · %3 Zustand</translation>
    </message>
    <message>
        <source>Give the job a name.</source>
        <translation>Dem Job einen Namen geben.</translation>
    </message>
    <message>
        <source>Enter a command, such as /opt/my-job.</source>
        <translation>Einen Befehl eingeben, etwa /opt/my-job.</translation>
    </message>
    <message>
        <source>Choose the file.</source>
        <translation>Die Datei wählen.</translation>
    </message>
    <message>
        <source>Choose a checkpoint.</source>
        <translation>Einen Checkpoint wählen.</translation>
    </message>
    <message>
        <source>The state of jobs in a simulated cluster has no bytes to load.</source>
        <translation>Der Zustand von Jobs in einem simulierten Cluster hat keine Bytes zum Laden.</translation>
    </message>
    <message>
        <source>%1 is not of the form KEY=VALUE.</source>
        <translation>%1 hat nicht die Form KEY=VALUE.</translation>
    </message>
    <message>
        <source>There is no setting %1.</source>
        <translation>Eine Einstellung %1 gibt es nicht.</translation>
    </message>
    <message>
        <source>%1 is none of %2.</source>
        <translation>%1 ist keines von %2.</translation>
    </message>
    <message>
        <source>Choose a program in Python, such as train.py.</source>
        <translation>Ein Python-Programm wählen, etwa train.py.</translation>
    </message>
    <message>
        <source>Choose a program, such as train.sh.</source>
        <translation>Ein Programm wählen, etwa train.sh.</translation>
    </message>
    <message>
        <source>A program in Python ends in .py.</source>
        <translation>Ein Python-Programm endet auf .py.</translation>
    </message>
    <message>
        <source>This is not the full path of a folder.</source>
        <translation>Dies ist nicht der volle Pfad eines Ordners.</translation>
    </message>
    <message>
        <source>%1 is not of the form NAME=VALUE.</source>
        <translation>%1 hat nicht die Form NAME=VALUE.</translation>
    </message>
    <message>
        <source>%1 is not a whole number from %2.</source>
        <translation>%1 ist keine ganze Zahl von %2.</translation>
    </message>
</context>
<context>
    <name>tessera::ui::StartJobDialog</name>
    <message>
        <source>command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Start a job</source>
        <translation>Job starten</translation>
    </message>
    <message>
        <source>on %1</source>
        <translation>auf %1</translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation>Konfiguration</translation>
    </message>
    <message>
        <source>Configurations in which the job could start</source>
        <translation>Konfigurationen, in denen der Job starten könnte</translation>
    </message>
    <message>
        <source>Each GPU will hold</source>
        <translation>Jede GPU wird halten</translation>
    </message>
    <message>
        <source>The same as a command</source>
        <translation>Dasselbe als Befehl</translation>
    </message>
    <message>
        <source>≈ estimates</source>
        <translation>≈ geschätzt</translation>
    </message>
    <message>
        <source>The cluster chooses the configuration. To see it first, let the panel look into the program: that runs it on this machine up to the point where it says which tensors it has.</source>
        <translation>Der Cluster wählt die Konfiguration. Um sie vorher zu sehen, das Panel in das Programm schauen lassen: Es läuft dann auf diesem Rechner bis zu der Stelle, an der es seine Tensoren nennt.</translation>
    </message>
    <message>
        <source>Configurations appear once the answers on the left are right.</source>
        <translation>Konfigurationen erscheinen, sobald die Angaben links stimmen.</translation>
    </message>
    <message>
        <source>Looking into the program…</source>
        <translation>Blick in das Programm…</translation>
    </message>
    <message>
        <source>Looking for configurations…</source>
        <translation>Konfigurationen werden gesucht…</translation>
    </message>
    <message>
        <source>There are no configurations: %1.</source>
        <translation>Es gibt keine Konfigurationen: %1.</translation>
    </message>
    <message>
        <source>No configuration of the job uses these GPUs.</source>
        <translation>Keine Konfiguration des Jobs nutzt diese GPUs.</translation>
    </message>
    <message>
        <source>Machines measured on %1.</source>
        <translation>Rechner gemessen am %1.</translation>
    </message>
    <message>
        <source>Times are guesses: tesseractl probe measures this cluster.</source>
        <translation>Zeiten sind geraten: tesseractl probe misst diesen Cluster.</translation>
    </message>
    <message>
        <source>Look into the program</source>
        <translation>In das Programm schauen</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>AdamW</source>
        <translation>AdamW</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>state and gradients</source>
        <translation>Zustand und Gradienten</translation>
    </message>
    <message>
        <source>free</source>
        <translation>frei</translation>
    </message>
    <message>
        <source>It does not fit: a GPU would hold %1.</source>
        <translation>Es passt nicht: Eine GPU würde %1 halten.</translation>
    </message>
    <message>
        <source>Less than 10 % of a GPU is left. A later change of the mesh may need more.</source>
        <translation>Weniger als 10 % einer GPU bleiben frei. Eine spätere Änderung des Mesh braucht vielleicht mehr.</translation>
    </message>
    <message>
        <source>The cluster is starting the job.</source>
        <translation>Der Cluster startet den Job.</translation>
    </message>
    <message>
        <source>A change is in progress.</source>
        <translation>Eine Änderung läuft.</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>%1.</source>
        <translation>%1.</translation>
    </message>
    <message>
        <source>Not enough memory: a GPU would hold %1.</source>
        <translation>Zu wenig Speicher: Eine GPU würde %1 halten.</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>Wird gestartet…</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>Start %1</source>
        <translation>%1 starten</translation>
    </message>
    <message>
        <source>Start %1 on %2</source>
        <translation>%1 auf %2 starten</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>It is not known whether %1 starts: %2.</source>
        <translation>Ob %1 startet, ist unbekannt: %2.</translation>
    </message>
    <message>
        <source>%1 did not start: %2.</source>
        <translation>%1 ist nicht gestartet: %2.</translation>
    </message>
    <message>
        <source>The job</source>
        <translation>Der Job</translation>
    </message>
</context>
<context>
    <name>tessera::ui::StartQuestions</name>
    <message>
        <source>Built-in model</source>
        <translation>Eingebautes Modell</translation>
    </message>
    <message>
        <source>Train a built-in model</source>
        <translation>Ein eingebautes Modell trainieren</translation>
    </message>
    <message>
        <source>A program of your own</source>
        <translation>Eigenes Programm</translation>
    </message>
    <message>
        <source>Train a program of your own</source>
        <translation>Ein eigenes Programm trainieren</translation>
    </message>
    <message>
        <source>A checkpoint</source>
        <translation>Ein Checkpoint</translation>
    </message>
    <message>
        <source>Train the model of a checkpoint</source>
        <translation>Das Modell eines Checkpoints trainieren</translation>
    </message>
    <message>
        <source>…</source>
        <translation>…</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>The program</source>
        <translation>Das Programm</translation>
    </message>
    <message>
        <source>uses tessera in Python</source>
        <translation>nutzt tessera in Python</translation>
    </message>
    <message>
        <source>loads and saves files</source>
        <translation>lädt und sichert Dateien</translation>
    </message>
    <message>
        <source>uses the rank library</source>
        <translation>nutzt die Rank-Bibliothek</translation>
    </message>
    <message>
        <source>How the program gives its state to the cluster. The guide has a page on each: “PyTorch”, “Through files” and “Your own job”.</source>
        <translation>Wie das Programm seinen Zustand dem Cluster gibt. Das Handbuch hat je eine Seite dazu: „PyTorch“, „Through files“ und „Your own job“.</translation>
    </message>
    <message>
        <source>Other settings</source>
        <translation>Andere Einstellungen</translation>
    </message>
    <message>
        <source>those of the checkpoint</source>
        <translation>die des Checkpoints</translation>
    </message>
    <message>
        <source>Settings that replace those of the checkpoint, as KEY=VALUE, separated by ;. `tesseractl job start --help` lists the keys.</source>
        <translation>Einstellungen anstelle derer des Checkpoints, als KEY=VALUE, getrennt durch ;. `tesseractl job start --help` listet die Schlüssel.</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Program</source>
        <translation>Programm</translation>
    </message>
    <message>
        <source>Choose a program</source>
        <translation>Ein Programm wählen</translation>
    </message>
    <message>
        <source>Command of each rank</source>
        <translation>Befehl jedes Ranks</translation>
    </message>
    <message>
        <source>It runs on the nodes: enter full paths.</source>
        <translation>Er läuft auf den Knoten: volle Pfade eingeben.</translation>
    </message>
    <message>
        <source>Makes up updates</source>
        <translation>Holt Updates nach</translation>
    </message>
    <message>
        <source>no</source>
        <translation>nein</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>ja</translation>
    </message>
    <message>
        <source>Yes: its ranks call tessera_unfinished, so a GPU that lacks an update can make up for it.</source>
        <translation>Ja: Seine Ranks rufen tessera_unfinished auf, so dass eine GPU, der ein Update fehlt, es nachholen kann.</translation>
    </message>
    <message>
        <source>Tensors</source>
        <translation>Tensoren</translation>
    </message>
    <message>
        <source>The file with name, type and shape of each tensor of the job.</source>
        <translation>Die Datei mit Name, Typ und Form jedes Tensors des Jobs.</translation>
    </message>
    <message>
        <source>Choose the file of the tensors</source>
        <translation>Die Datei der Tensoren wählen</translation>
    </message>
    <message>
        <source>Rules</source>
        <translation>Regeln</translation>
    </message>
    <message>
        <source>The file that says how the tensors are cut and placed.</source>
        <translation>Die Datei, die sagt, wie die Tensoren geteilt und verteilt werden.</translation>
    </message>
    <message>
        <source>Choose the file of the rules</source>
        <translation>Die Datei der Regeln wählen</translation>
    </message>
    <message>
        <source>Arguments</source>
        <translation>Argumente</translation>
    </message>
    <message>
        <source>Python</source>
        <translation>Python</translation>
    </message>
    <message>
        <source>with the same path on all nodes</source>
        <translation>mit demselben Pfad auf allen Knoten</translation>
    </message>
    <message>
        <source>Working directory</source>
        <translation>Arbeitsordner</translation>
    </message>
    <message>
        <source>that of the program</source>
        <translation>der des Programms</translation>
    </message>
    <message>
        <source>Choose the working directory</source>
        <translation>Den Arbeitsordner wählen</translation>
    </message>
    <message>
        <source>Environment</source>
        <translation>Umgebung</translation>
    </message>
    <message>
        <source>variables, separated by ;</source>
        <translation>Variablen, getrennt durch ;</translation>
    </message>
    <message>
        <source>Save every</source>
        <translation>Sichern alle</translation>
    </message>
    <message>
        <source>only for changes</source>
        <translation>nur für Änderungen</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>The program saves its state for changes, pauses and digests. With a number it does so also every so many steps, and less is lost with a GPU.</source>
        <translation>Das Programm sichert seinen Zustand für Änderungen, Pausen und Digests. Mit einer Zahl tut es das auch alle so viele Schritte, und mit einer GPU geht weniger verloren.</translation>
    </message>
    <message>
        <source>Begin with the checkpoint</source>
        <translation>Mit dem Checkpoint beginnen</translation>
    </message>
    <message>
        <source>Choose a checkpoint</source>
        <translation>Einen Checkpoint wählen</translation>
    </message>
    <message>
        <source>Take over</source>
        <translation>Übernehmen</translation>
    </message>
    <message>
        <source>everything</source>
        <translation>alles</translation>
    </message>
    <message>
        <source>parameters only</source>
        <translation>nur Parameter</translation>
    </message>
    <message>
        <source>Parameters only: moments, step and position in the data begin anew.</source>
        <translation>Nur Parameter: Momente, Schritt und Position in den Daten beginnen neu.</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>paths on the nodes, separated by ;</source>
        <translation>Pfade auf den Knoten, getrennt durch ;</translation>
    </message>
    <message>
        <source>Add a folder with data</source>
        <translation>Einen Ordner mit Daten hinzufügen</translation>
    </message>
    <message>
        <source>Global batch</source>
        <translation>Globaler Batch</translation>
    </message>
    <message>
        <source>samples per step</source>
        <translation>Samples pro Schritt</translation>
    </message>
    <message>
        <source>Sequence</source>
        <translation>Sequenz</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>until stopped</source>
        <translation>bis zum Beenden</translation>
    </message>
    <message>
        <source>If GPUs are lost</source>
        <translation>Bei GPU-Verlust</translation>
    </message>
    <message>
        <source>ask</source>
        <translation>fragen</translation>
    </message>
    <message>
        <source>go on with fewer</source>
        <translation>mit weniger weitermachen</translation>
    </message>
    <message>
        <source>wait for them</source>
        <translation>auf sie warten</translation>
    </message>
    <message>
        <source>Snapshot every</source>
        <translation>Snapshot alle</translation>
    </message>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>20 (steps), 30s, 5m</source>
        <translation>20 (Schritte), 30s, 5m</translation>
    </message>
    <message>
        <source>A snapshot copies the state into the memory of two nodes.</source>
        <translation>Ein Snapshot kopiert den Zustand in den Speicher zweier Knoten.</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPUs</translation>
    </message>
    <message>
        <source>More settings</source>
        <translation>Weitere Einstellungen</translation>
    </message>
    <message>
        <source>none: it begins anew</source>
        <translation>keiner: Er beginnt neu</translation>
    </message>
    <message>
        <source>It uses the package tessera: guide, “PyTorch”.</source>
        <translation>Es nutzt das Paket tessera: Handbuch, „PyTorch“.</translation>
    </message>
    <message>
        <source>In Python, for sh, or executable: guide, “Through files”.</source>
        <translation>In Python, für sh oder ausführbar: Handbuch, „Through files“.</translation>
    </message>
    <message>
        <source>as in the checkpoint</source>
        <translation>wie im Checkpoint</translation>
    </message>
    <message>
        <source>texts on the nodes</source>
        <translation>Texte auf den Knoten</translation>
    </message>
    <message>
        <source>as stored</source>
        <translation>wie gesichert</translation>
    </message>
    <message>
        <source>the idle one</source>
        <translation>die freie</translation>
    </message>
    <message>
        <source>all %1 idle</source>
        <translation>alle %1 freien</translation>
    </message>
    <message>
        <source>a number, or names such as n0g0,n0g1</source>
        <translation>eine Zahl oder Namen wie n0g0,n0g1</translation>
    </message>
    <message>
        <source>a folder on the nodes, or a URL</source>
        <translation>ein Ordner auf den Knoten, oder eine URL</translation>
    </message>
    <message>
        <source>%1, step %2, %3</source>
        <translation>%1, Schritt %2, %3</translation>
    </message>
    <message>
        <source>Programs in Python (*.py)</source>
        <translation>Python-Programme (*.py)</translation>
    </message>
    <message>
        <source>%1, step %2</source>
        <translation>%1, Schritt %2</translation>
    </message>
    <message>
        <source>A folder…</source>
        <translation>Ein Ordner…</translation>
    </message>
</context>
<context>
    <name>tessera::ui::StatePage</name>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Retry now</source>
        <translation>Jetzt erneut versuchen</translation>
    </message>
    <message>
        <source>Start local cluster (2 nodes × 4 GPUs)</source>
        <translation>Lokalen Cluster starten (2 Knoten × 4 GPUs)</translation>
    </message>
    <message>
        <source>Simulate a cluster…</source>
        <translation>Cluster simulieren…</translation>
    </message>
    <message>
        <source>Connect…</source>
        <translation>Verbinden…</translation>
    </message>
    <message>
        <source>Open history file…</source>
        <translation>Verlaufsdatei öffnen…</translation>
    </message>
    <message>
        <source>Command that starts a local cluster</source>
        <translation>Befehl, der einen lokalen Cluster startet</translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation>Den Befehl kopieren</translation>
    </message>
    <message>
        <source>Retry the connection now</source>
        <translation>Jetzt erneut verbinden</translation>
    </message>
    <message>
        <source>Start a local cluster of 2 nodes with 4 GPUs each</source>
        <translation>Einen lokalen Cluster mit 2 Knoten zu je 4 GPUs starten</translation>
    </message>
    <message>
        <source>Simulate a cluster of any size</source>
        <translation>Einen Cluster beliebiger Größe simulieren</translation>
    </message>
    <message>
        <source>Connect to another cluster</source>
        <translation>Mit einem anderen Cluster verbinden</translation>
    </message>
    <message>
        <source>Open a history file</source>
        <translation>Verlaufsdatei öffnen</translation>
    </message>
    <message>
        <source>No cluster yet</source>
        <translation>Noch kein Cluster</translation>
    </message>
    <message>
        <source>Start a cluster of 2 nodes with 4 emulated GPUs each on this machine, simulate a larger one, connect to one that runs, or open a history file. The first button runs this command:</source>
        <translation>Einen Cluster mit 2 Knoten zu je 4 emulierten GPUs auf diesem Rechner starten, einen größeren simulieren, einen laufenden verbinden oder eine Verlaufsdatei öffnen. Die erste Schaltfläche führt diesen Befehl aus:</translation>
    </message>
    <message>
        <source>Start a local cluster of 2 nodes with 4 emulated GPUs each, then open the panel again:</source>
        <translation>Einen lokalen Cluster mit 2 Knoten zu je 4 emulierten GPUs starten, dann das Panel erneut öffnen:</translation>
    </message>
    <message>
        <source>Starting a cluster…</source>
        <translation>Ein Cluster startet…</translation>
    </message>
    <message>
        <source>History file, not a live cluster</source>
        <translation>Verlaufsdatei, kein laufender Cluster</translation>
    </message>
    <message>
        <source>%1
Its changes, events and samples are shown below.
Choose Past, or click in the timeline, to see its GPUs.</source>
        <translation>%1
Änderungen, Ereignisse und Messwerte stehen unten.
Vergangen wählen oder in die Zeitachse klicken, um die GPUs zu sehen.</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>Verbindung wird aufgebaut…</translation>
    </message>
    <message>
        <source>Start again</source>
        <translation>Wieder starten</translation>
    </message>
    <message>
        <source>Open its history</source>
        <translation>Seinen Verlauf öffnen</translation>
    </message>
    <message>
        <source>Learn in 5 minutes</source>
        <translation>In 5 Minuten lernen</translation>
    </message>
    <message>
        <source>Watch a demo</source>
        <translation>Eine Demo ansehen</translation>
    </message>
    <message>
        <source>Slow links (%1), so that a move can be seen</source>
        <translation>Langsame Verbindungen (%1), damit man Transfers sieht</translation>
    </message>
    <message>
        <source>Start the cluster again with the nodes and GPUs that it had</source>
        <translation>Den Cluster mit seinen Knoten und GPUs wieder starten</translation>
    </message>
    <message>
        <source>Open the history of the stopped cluster</source>
        <translation>Den Verlauf des beendeten Clusters öffnen</translation>
    </message>
    <message>
        <source>Open the first lessons</source>
        <translation>Die ersten Lektionen öffnen</translation>
    </message>
    <message>
        <source>Short lessons on a simulated cluster: what shards are, and what a change moves</source>
        <translation>Kurze Lektionen mit einem simulierten Cluster: was Shards sind, und was eine Änderung bewegt</translation>
    </message>
    <message>
        <source>Watch a simulated job that grows and shrinks</source>
        <translation>Einem simulierten Job zusehen, der wächst und schrumpft</translation>
    </message>
    <message>
        <source>Starts a simulated cluster. Its job grows to 8 GPUs and shrinks to 4 in turn, and nothing is trained</source>
        <translation>Startet einen simulierten Cluster. Sein Job wächst abwechselnd auf 8 GPUs und schrumpft auf 4, und nichts wird trainiert</translation>
    </message>
</context>
<context>
    <name>tessera::ui::TensorCanvas</name>
    <message>
        <source>Shards of the tensor</source>
        <translation>Shards des Tensors</translation>
    </message>
    <message>
        <source>%1, held by %2</source>
        <translation>%1, gehalten von %2</translation>
    </message>
    <message>
        <source>dim %1: %2 to %3</source>
        <translation>Dim %1: %2 bis %3</translation>
    </message>
    <message>
        <source>the scalar</source>
        <translation>der Skalar</translation>
    </message>
    <message>
        <source>%1 stays</source>
        <translation>%1 bleibt</translation>
    </message>
    <message>
        <source>%1 stay</source>
        <translation>%1 bleiben</translation>
    </message>
    <message>
        <source>%1 ← %2</source>
        <translation>%1 ← %2</translation>
    </message>
    <message>
        <source>now, %1</source>
        <translation>jetzt, %1</translation>
    </message>
    <message>
        <source>%1</source>
        <translation>%1</translation>
    </message>
    <message>
        <source>after, %1</source>
        <translation>danach, %1</translation>
    </message>
    <message>
        <source>and %1 more sheets</source>
        <translation>und %1 weitere Lagen</translation>
    </message>
    <message>
        <source>and %1 more shards</source>
        <translation>und %1 weitere Shards</translation>
    </message>
    <message>
        <source>shard %1: %2, %3, %4</source>
        <translation>Shard %1: %2, %3, %4</translation>
    </message>
    <message>
        <source>Shard %1
%2
%3, %4</source>
        <translation>Shard %1
%2
%3, %4</translation>
    </message>
</context>
<context>
    <name>tessera::ui::TensorFrame</name>
    <message>
        <source>dim %1: %2</source>
        <translation>Dim %1: %2</translation>
    </message>
    <message>
        <source>dim %1: %2 to %3</source>
        <translation>Dim %1: %2 bis %3</translation>
    </message>
</context>
<context>
    <name>tessera::ui::TensorGroupModel</name>
    <message>
        <source>tensor</source>
        <translation>Tensor</translation>
    </message>
    <message>
        <source>×</source>
        <translation>×</translation>
    </message>
    <message>
        <source>The number of equal tensors: one per layer or expert</source>
        <translation>Die Zahl gleicher Tensoren: einer pro Schicht oder Experte</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <source>Bytes of one copy of all tensors of the row</source>
        <translation>Bytes einer Kopie aller Tensoren der Zeile</translation>
    </message>
    <message>
        <source>held</source>
        <translation>gehalten</translation>
    </message>
    <message>
        <source>%1 ×</source>
        <translation>%1 ×</translation>
    </message>
    <message>
        <source>%1–%2 ×</source>
        <translation>%1–%2 ×</translation>
    </message>
    <message>
        <source>How many GPUs hold the same bytes. What only one holds is lost with it</source>
        <translation>Wie viele GPUs dieselben Bytes halten. Was nur eine hält, geht mit ihr verloren</translation>
    </message>
</context>
<context>
    <name>tessera::ui::TensorsView</name>
    <message>
        <source>scalar</source>
        <translation>Skalar</translation>
    </message>
    <message>
        <source>Before and after</source>
        <translation>Vorher und nachher</translation>
    </message>
    <message>
        <source>What to show: the job, or a model of the catalogue</source>
        <translation>Was zu zeigen ist: der Job oder ein Modell des Katalogs</translation>
    </message>
    <message>
        <source>Show the tensors of the job, or of a model of the catalogue</source>
        <translation>Die Tensoren des Jobs oder eines Modells des Katalogs zeigen</translation>
    </message>
    <message>
        <source>Mesh for the model</source>
        <translation>Mesh für das Modell</translation>
    </message>
    <message>
        <source>The mesh on which the model is shown, as in dp=2,tp=8,pp=4</source>
        <translation>Das Mesh, auf dem das Modell gezeigt wird, wie in dp=2,tp=8,pp=4</translation>
    </message>
    <message>
        <source>Filter: name, role, dtype</source>
        <translation>Filter: Name, Rolle, Dtype</translation>
    </message>
    <message>
        <source>Filter tensors</source>
        <translation>Tensoren filtern</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>Optimizer state</source>
        <translation>Optimizer-Zustand</translation>
    </message>
    <message>
        <source>Buffers and scalars</source>
        <translation>Puffer und Skalare</translation>
    </message>
    <message>
        <source>All tensors</source>
        <translation>Alle Tensoren</translation>
    </message>
    <message>
        <source>Role of the tensors</source>
        <translation>Rolle der Tensoren</translation>
    </message>
    <message>
        <source>Tensors</source>
        <translation>Tensoren</translation>
    </message>
    <message>
        <source>whole model</source>
        <translation>ganzes Modell</translation>
    </message>
    <message>
        <source>Show all tensors, a row per layer</source>
        <translation>Alle Tensoren zeigen, eine Zeile pro Schicht</translation>
    </message>
    <message>
        <source>layer</source>
        <translation>Schicht</translation>
    </message>
    <message>
        <source>Show the tensors of one layer</source>
        <translation>Die Tensoren einer Schicht zeigen</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>Schicht</translation>
    </message>
    <message>
        <source>one tensor</source>
        <translation>ein Tensor</translation>
    </message>
    <message>
        <source>Show the shards of one tensor</source>
        <translation>Die Shards eines Tensors zeigen</translation>
    </message>
    <message>
        <source>Show the shards before and after the change side by side</source>
        <translation>Die Shards vor und nach der Änderung nebeneinander zeigen</translation>
    </message>
    <message>
        <source>The job</source>
        <translation>Der Job</translation>
    </message>
    <message>
        <source>The layout cannot be shown: %1.</source>
        <translation>Das Layout kann nicht gezeigt werden: %1.</translation>
    </message>
    <message>
        <source>Dividing the tensors among the GPUs…</source>
        <translation>Tensoren werden auf die GPUs verteilt…</translation>
    </message>
    <message>
        <source>Models of the catalogue can be chosen in the list at the left.</source>
        <translation>Modelle des Katalogs sind in der Liste links wählbar.</translation>
    </message>
    <message>
        <source>There is no cluster to show.</source>
        <translation>Es gibt keinen Cluster zu zeigen.</translation>
    </message>
    <message>
        <source>A history file contains no tensors.</source>
        <translation>Eine Verlaufsdatei enthält keine Tensoren.</translation>
    </message>
    <message>
        <source>No job is running.</source>
        <translation>Kein Job läuft.</translation>
    </message>
    <message>
        <source>The tensors could not be read: %1. Trying again.</source>
        <translation>Die Tensoren konnten nicht gelesen werden: %1. Neuer Versuch.</translation>
    </message>
    <message>
        <source>Reading the tensors…</source>
        <translation>Tensoren werden gelesen…</translation>
    </message>
    <message>
        <source>%1 has no layout yet.</source>
        <translation>%1 hat noch kein Layout.</translation>
    </message>
    <message>
        <source>Job %1</source>
        <translation>Job %1</translation>
    </message>
    <message>
        <source>dim %1 over %2</source>
        <translation>Dim %1 über %2</translation>
    </message>
    <message>
        <source>experts over ep</source>
        <translation>Experten über ep</translation>
    </message>
    <message>
        <source>flat over %1</source>
        <translation>flach über %1</translation>
    </message>
    <message>
        <source>stage by layer</source>
        <translation>Stage nach Schicht</translation>
    </message>
    <message>
        <source>first stage</source>
        <translation>erste Stage</translation>
    </message>
    <message>
        <source>last stage</source>
        <translation>letzte Stage</translation>
    </message>
    <message>
        <source>first and last stage</source>
        <translation>erste und letzte Stage</translation>
    </message>
    <message>
        <source>all stages</source>
        <translation>alle Stages</translation>
    </message>
    <message>
        <source>1 replica: held only once</source>
        <translation>1 Replikat: nur einmal gehalten</translation>
    </message>
    <message>
        <source>%1 replicas</source>
        <translation>%1 Replikate</translation>
    </message>
    <message>
        <source>σ slice: %1   → φ partition: %2   → α allocate: %3</source>
        <translation>σ Slice: %1   → φ Partition: %2   → α Zuteilung: %3</translation>
    </message>
    <message>
        <source>whole</source>
        <translation>ganz</translation>
    </message>
    <message>
        <source>%1 of one copy, %2 tensors</source>
        <translation>%1 einer Kopie, %2 Tensoren</translation>
    </message>
    <message>
        <source>width: square root of the bytes · click a tensor to open it</source>
        <translation>Breite: Wurzel der Bytes · ein Klick öffnet einen Tensor</translation>
    </message>
    <message>
        <source>a row per layer, a column per tensor · click a tensor to open it</source>
        <translation>eine Zeile pro Schicht, eine Spalte pro Tensor · ein Klick öffnet einen Tensor</translation>
    </message>
    <message>
        <source>Grey is the same on GPUs of different colours. Point at a part to see the GPUs that hold it, or at a GPU in the navigator or mesh to see its parts.</source>
        <translation>Grau ist auf GPUs verschiedener Farben gleich. Auf einen Teil zeigen, um die GPUs zu sehen, die ihn halten, oder auf eine GPU im Navigator oder Mesh, um ihre Teile zu sehen.</translation>
    </message>
    <message>
        <source>%1 tensors</source>
        <translation>%1 Tensoren</translation>
    </message>
    <message>
        <source>%1 segments, each cut for itself</source>
        <translation>%1 Segmente, jedes für sich geschnitten</translation>
    </message>
    <message>
        <source>Shard %1: %2 · %3 · %4</source>
        <translation>Shard %1: %2 · %3 · %4</translation>
    </message>
    <message>
        <source>Nothing of %1 is sent.</source>
        <translation>Von %1 wird nichts gesendet.</translation>
    </message>
    <message>
        <source>%1 of %2 are sent to GPUs that do not hold them (+); one copy has %3.</source>
        <translation>%1 von %2 gehen an GPUs, die sie nicht halten (+); eine Kopie hat %3.</translation>
    </message>
    <message>
        <source>Point at a shard to see the GPUs that hold it. Drag GPUs in or out to see where the shards would go.</source>
        <translation>Auf einen Shard zeigen, um die GPUs zu sehen, die ihn halten. GPUs hinein- oder hinausziehen, um zu sehen, wohin die Shards kämen.</translation>
    </message>
    <message>
        <source>&amp;Tensors</source>
        <translation>&amp;Tensoren</translation>
    </message>
    <message>
        <source>Show the tensors, how they are cut, and which GPUs hold the shards</source>
        <translation>Die Tensoren zeigen, wie sie geschnitten sind und welche GPUs die Shards halten</translation>
    </message>
</context>
<context>
    <name>tessera::ui::TimelinePage</name>
    <message>
        <source>Go to the previous change or event</source>
        <translation>Zur vorigen Änderung oder zum vorigen Ereignis gehen</translation>
    </message>
    <message>
        <source>Play the past</source>
        <translation>Die Vergangenheit abspielen</translation>
    </message>
    <message>
        <source>Go to the next change or event</source>
        <translation>Zur nächsten Änderung oder zum nächsten Ereignis gehen</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Exportieren…</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>Alles zeigen</translation>
    </message>
    <message>
        <source>Show the whole time and follow the newest sample</source>
        <translation>Die ganze Zeit zeigen und dem neuesten Messwert folgen</translation>
    </message>
    <message>
        <source>Show the whole time and follow the newest sample (double click)</source>
        <translation>Die ganze Zeit zeigen und dem neuesten Messwert folgen (Doppelklick)</translation>
    </message>
    <message>
        <source>Export the plots</source>
        <translation>Die Kurven exportieren</translation>
    </message>
    <message>
        <source>Save the plots as PNG or SVG, or their samples as CSV or JSON</source>
        <translation>Die Kurven als PNG oder SVG oder ihre Messwerte als CSV oder JSON speichern</translation>
    </message>
    <message>
        <source>Previous change or event (Left, in the plots)</source>
        <translation>Vorige Änderung oder voriges Ereignis (Links, in den Kurven)</translation>
    </message>
    <message>
        <source>Next change or event (Right, in the plots)</source>
        <translation>Nächste Änderung oder nächstes Ereignis (Rechts, in den Kurven)</translation>
    </message>
    <message>
        <source>Seconds of the past per second: slower with comma, faster with period</source>
        <translation>Sekunden der Vergangenheit pro Sekunde: langsamer mit Komma, schneller mit Punkt</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Pause (Space, in the plots)</source>
        <translation>Anhalten (Leertaste, in den Kurven)</translation>
    </message>
    <message>
        <source>Play the past in every view (Space, in the plots)</source>
        <translation>Die Vergangenheit in allen Ansichten abspielen (Leertaste, in den Kurven)</translation>
    </message>
    <message>
        <source>%1×</source>
        <translation>%1×</translation>
    </message>
    <message>
        <source>Speed: %1 seconds per second</source>
        <translation>Tempo: %1 Sekunden pro Sekunde</translation>
    </message>
    <message>
        <source>No job is running. The loss and speed of a job appear here.</source>
        <translation>Kein Job läuft. Hier erscheinen Loss und Geschwindigkeit eines Jobs.</translation>
    </message>
    <message>
        <source>Reading the samples of %1…</source>
        <translation>Messwerte von %1 werden gelesen…</translation>
    </message>
    <message>
        <source>%1 has not reported a step yet.</source>
        <translation>%1 hat noch keinen Schritt gemeldet.</translation>
    </message>
    <message>
        <source>There is no connection to the cluster.</source>
        <translation>Es gibt keine Verbindung zum Cluster.</translation>
    </message>
    <message>
        <source>The samples could not be read: %1. Trying again.</source>
        <translation>Die Messwerte konnten nicht gelesen werden: %1. Neuer Versuch.</translation>
    </message>
    <message>
        <source>as of %1</source>
        <translation>Stand %1</translation>
    </message>
    <message>
        <source>reading older samples…</source>
        <translation>ältere Messwerte werden gelesen…</translation>
    </message>
    <message>
        <source>the samples could not be read; trying again</source>
        <translation>Messwerte nicht lesbar; neuer Versuch</translation>
    </message>
    <message>
        <source>not following</source>
        <translation>folgt nicht</translation>
    </message>
    <message>
        <source>There are no samples to export.</source>
        <translation>Es gibt keine Messwerte zu exportieren.</translation>
    </message>
    <message>
        <source>PNG picture (*.png);;SVG drawing (*.svg);;CSV table of the samples (*.csv);;JSON of the samples (*.json)</source>
        <translation>PNG-Bild (*.png);;SVG-Zeichnung (*.svg);;CSV-Tabelle der Messwerte (*.csv);;JSON der Messwerte (*.json)</translation>
    </message>
    <message>
        <source>Curves</source>
        <translation>Kurven</translation>
    </message>
    <message>
        <source>Choose the curves to draw</source>
        <translation>Gezeichnete Kurven wählen</translation>
    </message>
    <message>
        <source>Choose what is drawn over time: loss, speed, and what the program logs</source>
        <translation>Wählen, was über die Zeit gezeichnet wird: Loss, Tempo und was das Programm protokolliert</translation>
    </message>
    <message>
        <source>A program adds its own with job.log(accuracy=0.9)</source>
        <translation>Ein Programm ergänzt eigene mit job.log(accuracy=0.9)</translation>
    </message>
    <message>
        <source>Seconds of each step, and what the selected GPUs compute of them, at most eight: this is not recorded, but seen while the panel is connected</source>
        <translation>Sekunden jedes Schritts, und wie lange die ausgewählten GPUs davon rechnen, höchstens acht: Das wird nicht aufgezeichnet, sondern ist zu sehen, solange das Panel verbunden ist</translation>
    </message>
</context>
<context>
    <name>tessera::ui::TuningText</name>
    <message>
        <source>%1 on %2</source>
        <comment>2 × 2 × 1 on n0g0–n0g3</comment>
        <translation>%1 auf %2</translation>
    </message>
    <message>
        <source>returning to %1</source>
        <translation>zurück zu %1</translation>
    </message>
    <message>
        <source>%1 of %2: %3</source>
        <comment>2 of 4: 2 × 2 × 1 on n0g0–n0g3</comment>
        <translation>%1 von %2: %3</translation>
    </message>
</context>
<context>
    <name>tessera::ui::TxnView</name>
    <message>
        <source>Until the commit the old layout is intact. Cancelling costs only time.</source>
        <translation>Bis zum Commit ist das alte Layout intakt. Abbrechen kostet nur Zeit.</translation>
    </message>
    <message>
        <source>Reason: %1.</source>
        <translation>Grund: %1.</translation>
    </message>
    <message>
        <source>%1 left</source>
        <translation>noch %1</translation>
    </message>
    <message>
        <source>%1 to %2 left</source>
        <translation>noch %1 bis %2</translation>
    </message>
    <message>
        <source>limited to %1 per node</source>
        <translation>begrenzt auf %1 pro Knoten</translation>
    </message>
    <message>
        <source>pause %1</source>
        <translation>Pause %1</translation>
    </message>
    <message>
        <source>%1 checksums equal</source>
        <translation>%1 Prüfsummen gleich</translation>
    </message>
    <message>
        <source>Moved %1</source>
        <translation>%1 verschoben</translation>
    </message>
    <message>
        <source>prepare</source>
        <translation>vorbereiten</translation>
    </message>
    <message>
        <source>pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>transfer</source>
        <translation>übertragen</translation>
    </message>
    <message>
        <source>verify</source>
        <translation>prüfen</translation>
    </message>
    <message>
        <source>commit</source>
        <translation>festschreiben</translation>
    </message>
    <message>
        <source>resume</source>
        <translation>fortsetzen</translation>
    </message>
    <message>
        <source>Reconfiguring %1: %2</source>
        <translation>%1 wird umgestellt: %2</translation>
    </message>
    <message>
        <source>The cluster has accepted the plan.</source>
        <translation>Der Cluster hat den Plan angenommen.</translation>
    </message>
    <message>
        <source>Waiting for the current step to end.</source>
        <translation>Warten auf das Ende des aktuellen Schritts.</translation>
    </message>
    <message>
        <source>Waiting for step %1 to end.</source>
        <translation>Warten auf das Ende von Schritt %1.</translation>
    </message>
    <message>
        <source>Transferring the state.</source>
        <translation>Der Zustand wird übertragen.</translation>
    </message>
    <message>
        <source>Comparing checksums: %1 equal so far.</source>
        <translation>Prüfsummen werden verglichen: bisher %1 gleich.</translation>
    </message>
    <message>
        <source>Switching to the new layout. The change is decided and can no longer be cancelled.</source>
        <translation>Wechsel zum neuen Layout. Die Änderung ist entschieden und lässt sich nicht mehr abbrechen.</translation>
    </message>
    <message>
        <source>Reconfigured %1: %2</source>
        <translation>%1 umgestellt: %2</translation>
    </message>
    <message>
        <source>Rolling back %1 to %2</source>
        <translation>%1 wird auf %2 zurückgerollt</translation>
    </message>
    <message>
        <source>The old layout is intact.</source>
        <translation>Das alte Layout ist intakt.</translation>
    </message>
    <message>
        <source>Rolled back in %1</source>
        <translation>In %1 zurückgerollt</translation>
    </message>
    <message>
        <source>Rolled back</source>
        <translation>Zurückgerollt</translation>
    </message>
    <message>
        <source>%1 keeps its old layout, %2.</source>
        <translation>%1 behält das alte Layout, %2.</translation>
    </message>
    <message>
        <source>The change of %1 failed</source>
        <translation>Die Änderung von %1 ist fehlgeschlagen</translation>
    </message>
    <message>
        <source>The cluster gave no reason.</source>
        <translation>Der Cluster nannte keinen Grund.</translation>
    </message>
    <message>
        <source>%1 needs a decision</source>
        <translation>%1 braucht eine Entscheidung</translation>
    </message>
    <message>
        <source>The change is waiting. Nothing is lost.</source>
        <translation>Die Änderung wartet. Nichts geht verloren.</translation>
    </message>
    <message>
        <source>The outcome of the change of %1 is unknown</source>
        <translation>Der Ausgang der Änderung von %1 ist unbekannt</translation>
    </message>
    <message>
        <source>Both layouts are kept until the outcome is known.</source>
        <translation>Beide Layouts bleiben, bis der Ausgang bekannt ist.</translation>
    </message>
    <message>
        <source>The state is copied while the job trains, at %1 a step.</source>
        <translation>Der Zustand wird kopiert, während der Job trainiert, mit %1 je Schritt.</translation>
    </message>
    <message>
        <source>The state is copied while the job trains.</source>
        <translation>Der Zustand wird kopiert, während der Job trainiert.</translation>
    </message>
    <message>
        <source>Round %1 of %2. The change is decided and can no longer be cancelled.</source>
        <translation>Runde %1 von %2. Die Änderung ist entschieden und lässt sich nicht mehr abbrechen.</translation>
    </message>
    <message>
        <source>copy</source>
        <translation>kopieren</translation>
    </message>
    <message>
        <source>step %1 of %2</source>
        <translation>Schritt %1 von %2</translation>
    </message>
    <message>
        <source>If it is cancelled, the job stays suspended and keeps its state.</source>
        <translation>Wird abgebrochen, so bleibt der Job ausgesetzt und behält seinen Zustand.</translation>
    </message>
    <message>
        <source>Until the commit the present state is intact. Cancelling costs only time.</source>
        <translation>Bis zum Commit ist der jetzige Zustand intakt. Abbrechen kostet nur Zeit.</translation>
    </message>
    <message>
        <source>If it is cancelled, the job is not started.</source>
        <translation>Wird abgebrochen, so startet der Job nicht.</translation>
    </message>
    <message>
        <source>%1 on other GPUs</source>
        <translation>%1 auf anderen GPUs</translation>
    </message>
    <message>
        <source>Recovering %1: %2</source>
        <translation>%1 wird wiederhergestellt: %2</translation>
    </message>
    <message>
        <source>Loading a checkpoint into %1</source>
        <translation>Ein Checkpoint wird in %1 geladen</translation>
    </message>
    <message>
        <source>Handing state in to %1</source>
        <translation>Zustand wird an %1 übergeben</translation>
    </message>
    <message>
        <source>Starting %1 from a checkpoint</source>
        <translation>%1 startet von einem Checkpoint</translation>
    </message>
    <message>
        <source>Recovered %1: %2</source>
        <translation>%1 wiederhergestellt: %2</translation>
    </message>
    <message>
        <source>Loaded a checkpoint into %1</source>
        <translation>Checkpoint in %1 geladen</translation>
    </message>
    <message>
        <source>Handed state in to %1</source>
        <translation>Zustand an %1 übergeben</translation>
    </message>
    <message>
        <source>Started %1 from a checkpoint</source>
        <translation>%1 von einem Checkpoint gestartet</translation>
    </message>
    <message>
        <source>%1 stays suspended and keeps its state.</source>
        <translation>%1 bleibt ausgesetzt und behält seinen Zustand.</translation>
    </message>
    <message>
        <source>%1 keeps its state.</source>
        <translation>%1 behält seinen Zustand.</translation>
    </message>
    <message>
        <source>%1 was not started.</source>
        <translation>%1 wurde nicht gestartet.</translation>
    </message>
    <message>
        <source>Training continues.</source>
        <translation>Das Training läuft weiter.</translation>
    </message>
    <message>
        <source>The job does not train.</source>
        <translation>Der Job trainiert nicht.</translation>
    </message>
    <message>
        <source>Training resumed after step %1.</source>
        <translation>Das Training läuft nach Schritt %1 weiter.</translation>
    </message>
    <message>
        <source>The change is committed.</source>
        <translation>Die Änderung ist festgeschrieben.</translation>
    </message>
    <message>
        <source>1 GPU is starting.</source>
        <translation>1 GPU startet.</translation>
    </message>
    <message>
        <source>%1 GPUs are starting.</source>
        <translation>%1 GPUs starten.</translation>
    </message>
    <message>
        <source>The ranks create their new groups.</source>
        <translation>Die Ranks bilden ihre neuen Gruppen.</translation>
    </message>
    <message>
        <source>The cluster is prepared.</source>
        <translation>Der Cluster ist vorbereitet.</translation>
    </message>
    <message>
        <source>The change is committed. The ranks resume.</source>
        <translation>Die Änderung ist festgeschrieben. Die Ranks trainieren weiter.</translation>
    </message>
    <message>
        <source>Rolling back the change of %1</source>
        <translation>Die Änderung von %1 wird zurückgerollt</translation>
    </message>
</context>
<context>
    <name>tessera::ui::TypedNameDialog</name>
    <message>
        <source>Type %1 to confirm:</source>
        <translation>Zur Bestätigung %1 eingeben:</translation>
    </message>
    <message>
        <source>Name to type: %1</source>
        <translation>Einzugebender Name: %1</translation>
    </message>
    <message>
        <source>command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Copy as command</source>
        <translation>Als Befehl kopieren</translation>
    </message>
</context>
<context>
    <name>tessera::ui::format</name>
    <message>
        <source>%1 of %2</source>
        <comment>118 of 512 MiB</comment>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>s</source>
        <translation>s</translation>
    </message>
    <message>
        <source>µs</source>
        <translation>µs</translation>
    </message>
    <message>
        <source>ms</source>
        <translation>ms</translation>
    </message>
    <message>
        <source>%1 min %2 s</source>
        <translation>%1 min %2 s</translation>
    </message>
    <message>
        <source>%1 h %2 min</source>
        <translation>%1 h %2 min</translation>
    </message>
    <message>
        <source>just now</source>
        <translation>gerade eben</translation>
    </message>
    <message>
        <source>%1 s ago</source>
        <translation>vor %1 s</translation>
    </message>
    <message>
        <source>%1 min ago</source>
        <translation>vor %1 min</translation>
    </message>
    <message>
        <source>%1 h ago</source>
        <translation>vor %1 h</translation>
    </message>
    <message>
        <source>%1 d ago</source>
        <translation>vor %1 d</translation>
    </message>
    <message>
        <source>G</source>
        <comment>thousand millions</comment>
        <translation>G</translation>
    </message>
    <message>
        <source>M</source>
        <comment>millions</comment>
        <translation>M</translation>
    </message>
    <message>
        <source>k</source>
        <comment>thousands</comment>
        <translation>k</translation>
    </message>
    <message>
        <source>1 GPU</source>
        <translation>1 GPU</translation>
    </message>
    <message>
        <source>%1 GPUs</source>
        <translation>%1 GPUs</translation>
    </message>
    <message>
        <source>1 node</source>
        <translation>1 Knoten</translation>
    </message>
    <message>
        <source>%1 nodes</source>
        <translation>%1 Knoten</translation>
    </message>
    <message>
        <source>1 step</source>
        <translation>1 Schritt</translation>
    </message>
    <message>
        <source>%1 steps</source>
        <translation>%1 Schritte</translation>
    </message>
    <message>
        <source>Not a valid value</source>
        <translation>Kein gültiger Wert</translation>
    </message>
    <message>
        <source>Not found</source>
        <translation>Nicht gefunden</translation>
    </message>
    <message>
        <source>Already exists</source>
        <translation>Existiert bereits</translation>
    </message>
    <message>
        <source>Not possible now</source>
        <translation>Jetzt nicht möglich</translation>
    </message>
    <message>
        <source>Not reachable</source>
        <translation>Nicht erreichbar</translation>
    </message>
    <message>
        <source>No answer in time</source>
        <translation>Keine Antwort in der Zeit</translation>
    </message>
    <message>
        <source>Cancelled</source>
        <translation>Abgebrochen</translation>
    </message>
    <message>
        <source>Data damaged or lost</source>
        <translation>Daten beschädigt oder verloren</translation>
    </message>
    <message>
        <source>Out of space</source>
        <translation>Kein Platz mehr</translation>
    </message>
    <message>
        <source>Not supported</source>
        <translation>Nicht unterstützt</translation>
    </message>
    <message>
        <source>Internal error</source>
        <translation>Interner Fehler</translation>
    </message>
    <message>
        <source>Not allowed</source>
        <translation>Nicht erlaubt</translation>
    </message>
    <message>
        <source>Outcome unknown</source>
        <translation>Ergebnis unbekannt</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <comment>kind of error: its words</comment>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>joining</source>
        <translation>tritt bei</translation>
    </message>
    <message>
        <source>alive</source>
        <translation>erreichbar</translation>
    </message>
    <message>
        <source>suspect</source>
        <translation>verdächtig</translation>
    </message>
    <message>
        <source>unreachable</source>
        <translation>unerreichbar</translation>
    </message>
    <message>
        <source>lost</source>
        <translation>verloren</translation>
    </message>
    <message>
        <source>left</source>
        <translation>gegangen</translation>
    </message>
    <message>
        <source>starting</source>
        <translation>startet</translation>
    </message>
    <message>
        <source>training</source>
        <translation>trainiert</translation>
    </message>
    <message>
        <source>pausing</source>
        <translation>hält an</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>angehalten</translation>
    </message>
    <message>
        <source>reconfiguring</source>
        <translation>wird umgestellt</translation>
    </message>
    <message>
        <source>needs a decision</source>
        <translation>braucht eine Entscheidung</translation>
    </message>
    <message>
        <source>suspended</source>
        <translation>ausgesetzt</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>beendet</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>planned</source>
        <translation>geplant</translation>
    </message>
    <message>
        <source>preparing</source>
        <translation>bereitet vor</translation>
    </message>
    <message>
        <source>transferring</source>
        <translation>überträgt</translation>
    </message>
    <message>
        <source>verifying</source>
        <translation>prüft</translation>
    </message>
    <message>
        <source>committing</source>
        <translation>schreibt fest</translation>
    </message>
    <message>
        <source>resuming</source>
        <translation>fährt fort</translation>
    </message>
    <message>
        <source>done</source>
        <translation>fertig</translation>
    </message>
    <message>
        <source>rolling back</source>
        <translation>rollt zurück</translation>
    </message>
    <message>
        <source>rolled back</source>
        <translation>zurückgerollt</translation>
    </message>
    <message>
        <source>outcome unknown</source>
        <translation>Ausgang unbekannt</translation>
    </message>
    <message>
        <source>debug</source>
        <translation>Debug</translation>
    </message>
    <message>
        <source>info</source>
        <translation>Info</translation>
    </message>
    <message>
        <source>warning</source>
        <translation>Warnung</translation>
    </message>
    <message>
        <source>error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>copying while training</source>
        <translation>kopiert beim Training</translation>
    </message>
    <message>
        <source>survived</source>
        <translation>überstanden</translation>
    </message>
    <message>
        <source>%1 would lose %2</source>
        <comment>n1 would lose 18 MiB</comment>
        <translation>%1 verlöre %2</translation>
    </message>
    <message>
        <source>%1 in</source>
        <comment>a port</comment>
        <translation>Eingang von %1</translation>
    </message>
    <message>
        <source>%1 out</source>
        <comment>a port</comment>
        <translation>Ausgang von %1</translation>
    </message>
    <message>
        <source>%1 (key %2)</source>
        <translation>%1 (Schlüssel %2)</translation>
    </message>
</context>
</TS>
