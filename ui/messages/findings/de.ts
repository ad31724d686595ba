import type { FindingTexts } from '../../lib/findings.ts'

/** German texts of the findings of `stowage doctor`, by code. */
const de: FindingTexts = {
  'settings-built-in': 'Einstellungen: keine Datei',
  'settings-file': 'Einstellungen: {file}',
  'settings-file-readable':
    'Einstellungen: Alle Benutzer dieses Rechners können {key} in {file} lesen. Führen Sie chmod o-rwx für die Datei aus.',
  'base-address': 'Basisadresse: {url}',
  cookie: 'Cookie: {cookie}',
  'unknown-key': '{key} ist keine bekannte Einstellung.',
  'misspelt-key': '{key} ist keine bekannte Einstellung. Meinen Sie {nearest}?',
  'unknown-variable': '{variable} ist keine Variable einer bekannten Einstellung.',
  'misspelt-variable': '{variable} ist keine Variable einer bekannten Einstellung. Meinen Sie {nearest}?',
  'data-folder': 'Datenordner: {folder}',
  'data-folder-new': 'Datenordner: {folder} (der erste Start legt ihn an)',
  'data-folder-unusable': 'Der Datenordner kann nicht verwendet werden. Meldung: {reason}',
  'data-folder-read-only':
    'Der Benutzer des Dienstes kann nicht in den Datenordner {folder} schreiben, oder der Ordner ist schreibgeschützt.',
  'data-folder-exposed':
    'Datenordner: Andere Benutzer können {path} lesen oder ändern. Führen Sie chmod go-rwx dafür aus.',
  'files-missing':
    'Dateien: Die Datenbank führt Dateien auf, aber in {folder} sind keine. Ist der Datenträger eingehängt? Beenden Sie den Dienst, und folgen Sie {page}.',
  'disk-free': 'Datenträger des Datenordners: {free, size} von {size, size} frei',
  'disk-low':
    'Datenträger des Datenordners: nur {free, size} von {size, size} frei. Schaffen Sie Platz, bevor neue Daten abgelehnt werden.',
  'disk-full':
    'Datenträger des Datenordners: nur {free, size} von {size, size} frei. Neue Daten werden abgelehnt. Schaffen Sie Platz.',
  'open-files': 'Offene Dateien: höchstens {files}',
  'open-files-few': 'Offene Dateien: höchstens {files}. Erhöhen Sie LimitNOFILE (systemd) oder ulimit -n auf 65536.',
  bucket: 'Dateien: {place}',
  'bucket-unusable': 'Der Ort der Dateien kann nicht verwendet werden. Meldung: {reason}',
  redis: 'Redis: {host}',
  'redis-unusable': 'Redis kann nicht verwendet werden. Meldung: {reason}',
  'database-server': 'Speicher: PostgreSQL {version} auf {place}',
  'database-clock': 'Uhr: {ms} ms Abweichung von der Uhr der Datenbank',
  'database-clock-behind': 'Uhr: Sie geht der Uhr der Datenbank {seconds} s vor. Stellen Sie beide richtig.',
  'database-clock-ahead': 'Uhr: Sie geht der Uhr der Datenbank {seconds} s nach. Stellen Sie beide richtig.',
  node: 'Knoten {id}: Version {version}',
  'node-setting': 'Knoten {id}: {key} ist hier {own} und dort {other}.',
  'node-token-key': 'Knoten {id}: Der Token-Schlüssel ist hier {own} und dort {other} (Fingerabdrücke).',
  'node-app-key': 'Knoten {id}: Der Schlüssel der Authenticator-Apps ist hier {own} und dort {other} (Fingerabdrücke).',
  'token-key': 'Token-Schlüssel: Fingerabdruck {fingerprints}',
  'token-key-new':
    'Token-Schlüssel: {file} gibt es nicht. Der erste Start legt die Datei an. Alle Knoten brauchen dieselbe.',
  'token-key-unusable': 'Der Token-Schlüssel kann nicht verwendet werden. Meldung: {reason}',
  'store-unusable': 'Der Speicher kann nicht verwendet werden. Meldung: {reason}',
  'store-damaged':
    'Speicher: Die Datenbank ist beschädigt. Beenden Sie den Dienst, und folgen Sie {page}. Meldung: {reason}',
  'store-newer':
    'Speicher: Er hat die Schemaversion {found}, aber diese Version von Stowage kennt höchstens {known}. Ein neueres Stowage hat ihn verwendet. Starten Sie dieses, oder stellen Sie eine ältere Sicherung wieder her.',
  'store-incomplete':
    'Speicher: `restore`, `migrate-store` oder `import` hat ihn nicht vollständig gefüllt. Führen Sie den Befehl noch einmal aus.',
  'store-current': 'Speicher: Die Tabellen passen zu dieser Version.',
  'store-older': 'Speicher: Die Tabellen sind von einer älteren Version. Der nächste Start aktualisiert sie.',
  'context-id-reserved':
    'Bereich {id}: /{id} ist jetzt eine Adresse des Dienstes. Verschieben Sie den Inhalt mit Export und Import.',
  'context-name-reserved': 'Bereich {id}: Sein Name „{name}“ ist jetzt reserviert. Geben Sie ihm einen anderen.',
  'backups-off': 'Sicherungen: Der Dienst macht keine (service.backup.schedule).',
  'backups-unchecked': 'Die Sicherungen wurden nicht geprüft. Meldung: {reason}',
  'backups-after-start': 'Sicherungen: Der Dienst macht die erste nach seinem Start.',
  'backups-none': 'Sicherungen: Es gibt noch keine.',
  'backups-unusable': 'Der Ort der Sicherungen kann nicht verwendet werden. Meldung: {reason}',
  'backup-made': 'Sicherungen: Die letzte ist vom {made, time}, mit {files, plural, one {# Datei} other {# Dateien}}.',
  'backup-overdue':
    'Sicherungen: Die letzte ist vom {made, time}, mit {files, plural, one {# Datei} other {# Dateien}}. Eine neuere ist überfällig.',
  'backup-failed': 'Die letzte Sicherung ist fehlgeschlagen. Meldung: {reason}',
  'backup-key': 'Sicherungen: signiert mit dem Schlüssel {key}',
  'backup-gone': 'Sicherungen: Die vom {made, time} ist nicht mehr in {place}. Ist der Datenträger eingehängt?',
  'backup-back':
    'Sicherungen: In {place} ist die vom {made, time} wieder da. Starten Sie den Dienst neu: Er macht dann dort eine neue.',
  'backups-damaged':
    'Sicherungen: In {count, plural, one {# früheren Sicherung} other {# früheren Sicherungen}} sind Dateien beschädigt. `stowage backup list {place}` nennt jede solche Sicherung und den Befehl, der ihre Dateien nennt. Holen Sie eine solche Datei aus einer späteren Sicherung zurück.',
  'backup-unreadable': 'Sicherungen: Das Manifest {path} ist beschädigt oder von einer anderen Version.',
  'backup-changed':
    'Sicherungen: Das Manifest der Sicherung vom {made, time} ({path}) wurde nach dem Signieren geändert.',
  'backup-not-remembered':
    'Sicherungen: In {place} ist eine spätere Sicherung dieses Speichers, vom {made, time}, mit {files, plural, one {# Datei} other {# Dateien}}, die dieser Datenordner nicht kennt. Er ist vielleicht eine alte Kopie. Ist sein Datenträger eingehängt? Wenn der Speicher nichts verloren hat, führen Sie `stowage backup accept {place}` aus.',
  'backups-of-others':
    'Sicherungen: {count, plural, one {# Sicherung eines anderen Speichers, oder dieses Speichers vor einer Wiederherstellung, bleibt} other {# Sicherungen eines anderen Speichers, oder dieses Speichers vor einer Wiederherstellung, bleiben}} erhalten. Wenn dieser Speicher nichts verloren hat, führen Sie `stowage backup accept {place}` aus. Wenn doch, stellen Sie die Sicherung wieder her, die `stowage backup list {place}` die letzte gute nennt. Wenn ein anderer Dienst dort Sicherungen macht, geben Sie einem der beiden einen anderen Ort.',
  'backups-of-future':
    'Sicherungen: {count, plural, one {# Sicherung liegt} other {# Sicherungen liegen}} in der Zukunft. Nach der Uhr dieses Rechners ist es {now, time}. Wenn sie falsch geht, stellen Sie sie. Wenn sie früher falsch ging, geben Sie diese Sicherungen auf, und verschieben Sie aus ihrem Ort: {paths}',
  'backups-none-of-store': 'Sicherungen: Von diesem Speicher gibt es noch keine. In {place} ist eine vom {made, time}.',
  'backups-of-lost-store':
    'Sicherungen: Von diesem Speicher gibt es noch keine. In {place} ist eine vom {made, time} von einem anderen Speicher, der am {store, time} entstand. Wenn Sie ihn wiederhergestellt haben, folgt die nächste Sicherung von selbst. Wenn er verloren ist, beenden Sie den Dienst, und hängen Sie seinen Datenträger ein, oder stellen Sie ihn wieder her. Sonst geben Sie einen anderen Ort an.',
  'backup-of-damaged-store':
    'Sicherungen: Die Datenbank ist beschädigt. In {place} ist eine Sicherung vom {made, time}. Folgen Sie {page}.',
  'backup-without-store':
    'Sicherungen: In {folder} ist kein Speicher. In {place} ist eine Sicherung vom {made, time}. Hängen Sie den Datenträger des Speichers ein, oder stellen Sie die Sicherung wieder her.',
  'backups-unproven': 'Sicherungen: Noch keine wurde zur Probe wiederhergestellt (service.backup.prove).',
  'backup-proven': 'Sicherungen: Die vom {made, time} wurde am {proven, time} zur Probe wiederhergestellt.',
  'backup-proof-overdue':
    'Sicherungen: Die vom {made, time} wurde am {proven, time} zur Probe wiederhergestellt. Eine neuere Probe ist überfällig.',
  'backup-proof-failed': 'Die letzte Wiederherstellung zur Probe fand ein Problem. Meldung: {reason}',
  'backup-proof-note': 'Die letzte Sicherung wurde geprüft, aber nicht zur Probe wiederhergestellt. Meldung: {reason}',
  'backup-restore': 'Sicherungen: Eine Wiederherstellung dauert {seconds} s.',
  'backup-newest-change': 'Sicherungen: Die letzte Änderung in der geprüften ist vom {changed, time}.',
  'breached-included': 'Bekannt gewordene Passwörter: {count} in der mitgelieferten Liste',
  'breached-list': 'Bekannt gewordene Passwörter: {count} in {place}',
  'breached-list-small': 'Bekannt gewordene Passwörter: nur {count} in {place}. Dort fehlen die meisten.',
  'breached-list-unusable':
    'Die Liste der bekannt gewordenen Passwörter kann nicht verwendet werden. Meldung: {reason}',
  'factors-off': 'Bestätigung in zwei Schritten: ausgeschaltet, niemand kann sie einrichten',
  'factors-optional': 'Bestätigung in zwei Schritten: freiwillig',
  'factors-for-all': 'Bestätigung in zwei Schritten: Pflicht für alle Benutzer',
  'factors-for-admins': 'Bestätigung in zwei Schritten: Pflicht für Administratoren',
  'factors-for-groups': 'Bestätigung in zwei Schritten: Pflicht für Mitglieder von {groups}',
  'factors-for-admins-and-groups':
    'Bestätigung in zwei Schritten: Pflicht für Administratoren und Mitglieder von {groups}',
  'factor-group-missing':
    'Bestätigung in zwei Schritten: Es gibt keine Gruppe „{name}“ (service.auth.second-factor.groups.<n>).',
  apps: 'Bestätigung in zwei Schritten: {count, plural, one {# Authenticator-App} other {# Authenticator-Apps}}',
  'app-key-missing':
    'Bestätigung in zwei Schritten: {sealed, plural, one {# Authenticator-App ist} other {# Authenticator-Apps sind}} mit einem Schlüssel verschlüsselt, der fehlt (insgesamt {count}). Stellen Sie den Schlüssel aus einer Kopie wieder her.',
  'app-key-file-missing':
    'Bestätigung in zwei Schritten: Die Schlüsseldatei {file} fehlt. {apps, plural, one {# Authenticator-App kann} other {# Authenticator-Apps können}} deshalb nicht verwendet werden. Stellen Sie die Datei aus einer Kopie wieder her.',
  'app-keys-unusable': 'Die Schlüssel der Authenticator-Apps können nicht verwendet werden. Meldung: {reason}',
  'passkeys-off': 'Passkeys: ausgeschaltet',
  'passkeys-not-offered':
    'Passkeys: nicht angeboten, weil Browser eine Basisadresse mit Hostname und https oder localhost brauchen',
  'passkeys-for-sign-in': 'Passkeys: an den Host {host} gebunden, auch statt des Passworts',
  'passkeys-as-factor': 'Passkeys: an den Host {host} gebunden, als zweiter Schritt',
  passkeys: 'Bestätigung in zwei Schritten: {count, plural, one {# Passkey} other {# Passkeys}}',
  'passkeys-unusable':
    'Bestätigung in zwei Schritten: {count, plural, one {# Passkey kann} other {# Passkeys können}} nicht verwendet werden, weil Passkeys nicht angeboten werden.',
  'passkeys-of-other-address':
    'Bestätigung in zwei Schritten: {foreign, plural, one {# Passkey wurde} other {# Passkeys wurden}} unter einer anderen Basisadresse als {base} hinzugefügt (insgesamt {count}). Wenn der Host ein anderer war, brauchen die Besitzer ihre Wiederherstellungscodes.',
  'protocol-off': '{protocol}: ausgeschaltet',
  'sso-groups': '{provider}: Gruppen „{prefix}…“ kommen aus {attribute}. Fehlende werden erstellt.',
  'sso-known-groups': '{provider}: Gruppen „{prefix}…“ kommen aus {attribute}. Nur vorhandene zählen.',
  'sso-admins': '{provider}: {attribute}={value} macht Benutzer zu Administratoren.',
  'sso-profile': '{provider}: Das Profil kommt aus Attributen: {map}',
  'sso-required': '{provider}: verlangte Werte von {attributes}',
  'provider-clock': '{provider}: Die Uhren weichen {seconds} s voneinander ab.',
  'provider-clock-wrong': '{provider}: Die Uhren weichen {seconds} s voneinander ab. Stellen Sie beide richtig.',
  'saml-unusable': 'SAML kann nicht verwendet werden. Meldung: {reason}',
  'signing-certificate':
    'SAML: Das eigene Zertifikat zum Signieren läuft in {days, plural, one {# Tag} other {# Tagen}} ab.',
  'signing-certificate-expired': 'SAML: Das eigene Zertifikat zum Signieren ist abgelaufen.',
  'encryption-certificate':
    'SAML: Das eigene Zertifikat zur Verschlüsselung läuft in {days, plural, one {# Tag} other {# Tagen}} ab.',
  'encryption-certificate-expired': 'SAML: Das eigene Zertifikat zur Verschlüsselung ist abgelaufen.',
  'saml-certificate': '{provider}: Das Zertifikat „{subject}“ läuft in {days, plural, one {# Tag} other {# Tagen}} ab.',
  'saml-certificate-expired': '{provider}: Das Zertifikat „{subject}“ ist abgelaufen.',
  'saml-acs': '{provider}: Adresse für SAML-Antworten {url}',
  'saml-acs-elsewhere':
    '{provider}: Antworten gehen an {url}, aber dieser Dienst nimmt sie unter {own} oder {store} an.',
  'saml-metadata':
    '{provider}: Metadaten von {entity} aus {url}, {keys, plural, one {# Schlüssel} other {# Schlüssel}} für Signaturen',
  'saml-metadata-expired': '{provider}: Die Metadaten gelten nicht mehr.',
  'saml-metadata-unusable': '{provider}: Die Metadaten können nicht verwendet werden. Meldung: {reason}',
  'saml-metadata-unused': '{provider}: Ein Teil der Metadaten wird nicht verwendet. Meldung: {reason}',
  'saml-signer': '{provider}: Die Metadaten sind mit dem Zertifikat {fingerprint} signiert, gültig bis {until, time}.',
  'saml-logout': '{provider}: gemeinsame Abmeldung (Single Logout, {mode}) unter {url}',
  'saml-without-logout':
    '{provider}: Die Metadaten des Anbieters haben keine Adresse für die gemeinsame Abmeldung (Single Logout) mit Redirect oder POST.',
  'federation-unusable': '{provider}: Die Föderation kann nicht verwendet werden. Meldung: {reason}',
  'federation-discovery': '{provider}: Die Benutzer wählen ihre Organisation unter {url}.',
  'federation-queries': '{provider}: {url} beantwortet Anfragen.',
  'federation-metadata':
    '{provider}: eine Föderation mit {providers, plural, one {# Anbieter} other {# Anbietern}}, davon {unusable} nicht nutzbar, gültig für {days, plural, one {# Tag} other {# Tage}}, aus {url}',
  'federation-metadata-unusable':
    '{provider}: Die Metadaten der Föderation können nicht verwendet werden. Meldung: {reason}',
  'oidc-unusable': 'OpenID Connect kann nicht verwendet werden. Meldung: {reason}',
  'oidc-redirect': '{provider}: Weiterleitungs-URI {url}',
  'oidc-provider': '{provider}: {issuer}, {keys, plural, one {# Schlüssel} other {# Schlüssel}}, {algorithms}',
  'oidc-provider-unusable': '{provider}: Die Konfiguration kann nicht verwendet werden. Meldung: {reason}',
  'oidc-sign-out': '{provider}: Nach dem Abmelden hier geht es weiter zu {url}.',
  'oidc-without-sign-out':
    '{provider}: single-logout ist eingeschaltet, aber der Anbieter hat keinen end_session_endpoint.',
  cas: 'CAS: {version} auf {server}, zu registrierende Adresse {url}',
  'cas-answers': 'CAS: {version} auf {server}: Der Server antwortet und lehnt ein unbekanntes Ticket ab.',
  'cas-unregistered':
    'CAS: {version} auf {server}: Der Server kennt diesen Dienst nicht. Registrieren Sie dort die Adresse des Dienstes. Meldung: {reason}',
  'cas-unusable': 'CAS: {version} auf {server}: Die Prüfung {check} ist fehlgeschlagen. Meldung: {reason}',
  'content-origin': 'Adresse für aktive Dateien: {url}',
  'content-origin-elsewhere':
    'Adresse für aktive Dateien: {url} führt nicht zu diesem Dienst. {path} antwortet mit {status}.',
  'content-origin-without-host':
    'Adresse für aktive Dateien: {url} antwortet wie die Basisadresse. Dateien kämen deshalb ohne Ende zu ihr zurück. Der Proxy muss den Header Host weitergeben.',
  'content-origin-unchecked': 'Adresse für aktive Dateien: {url} kann gerade nicht geprüft werden. Meldung: {reason}',
  'virus-scan': 'Virenprüfung: {version} auf {place}',
  'virus-scan-blind': 'Virenprüfung: clamd erkennt die Testdatei EICAR nicht.',
  'virus-scan-fails':
    'Dateien können nicht auf Viren geprüft werden und werden ohne Prüfung gespeichert. Meldung: {reason}',
  'virus-scan-rejects': 'Dateien können nicht auf Viren geprüft werden und werden abgelehnt. Meldung: {reason}',
  'base-address-not-set':
    'service.baseurl.folder ist nicht gesetzt. URIs in Antworten beginnen deshalb mit http://127.0.0.1 ({settings}).',
  'no-trusted-proxy':
    'Der Dienst ist von anderen Rechnern erreichbar, aber keinem Reverse-Proxy wird vertraut. Nur ein Proxy begrenzt die Verbindungen und Anfragen jeder Adresse ({settings}).',
  'every-peer-trusted':
    'Jeder Rechner gilt als vertrauter Proxy. Ein Client kann deshalb jede Adresse vorgeben ({settings}).',
  'cors-incomplete': 'Anfragen von anderen Websites brauchen den Schalter und mindestens eine Adresse ({settings}).',
  'database-not-verified':
    'Mit sslmode=prefer oder allow können Daten und Passwort im Netz mitgelesen werden. Verwenden Sie verify-full ({settings}).',
  'cookie-secure-anyway':
    'Das Cookie ist trotzdem Secure, weil Browser SameSite=None ohne Secure ablehnen ({settings}).',
  'cookie-needs-https':
    'Browser nehmen ein Cookie mit Secure nur über https an. Im Browser kann sich deshalb niemand anmelden ({settings}).',
  'cookie-without-https':
    'Das Cookie wird auch über http ohne Verschlüsselung gesendet, obwohl die Basisadresse https hat ({settings}).',
  'cookie-outside-path':
    'Browser senden das Cookie nicht an die Basisadresse, weil diese außerhalb des Pfads des Cookies liegt ({settings}).',
  'login-ends-early': 'Sitzungen enden vor ihrem Höchstalter ({settings}).',
  'token-key-unused':
    'Die Schlüsseldatei wird nur verwendet, wenn Sitzungen außerhalb des Arbeitsspeichers liegen ({settings}).',
  'whitelist-unused':
    'Die Liste erlaubter Benutzer (whitelist) gilt nur mit service.auth.password=whitelist ({settings}).',
  'basic-without-https':
    'Passwörter können im Netz mitgelesen werden, weil die Basisadresse nicht https hat ({settings}).',
  'mail-password-in-clear': 'Das Passwort des Mailservers wird ohne Verschlüsselung gesendet ({settings}).',
  'content-origin-without-https':
    'Dateien und ihre Tickets können im Netz mitgelesen werden, weil die Adresse für aktive Dateien nicht https hat ({settings}).',
  'virus-scan-optional':
    'Dateien werden ohne Virenprüfung gespeichert, solange clamd nicht antwortet und wenn sie dafür zu groß sind ({settings}).',
  'quota-unused': 'Ein Standardkontingent ist gesetzt, aber Kontingente sind ausgeschaltet ({settings}).',
  'proxy-hosts-unused': 'Hosts für den Proxy sind gesetzt, aber der Proxy ist ausgeschaltet ({settings}).',
  'basic-without-factor':
    'Benutzer mit Bestätigung in zwei Schritten können HTTP Basic nicht verwenden. Ihre Programme verwenden Zugangstoken ({settings}).',
  'nobody-can-sign-in':
    'Niemand kann sich anmelden: Passwörter und alle Protokolle ({protocols}) sind ausgeschaltet ({settings}).',
  'providers-without-domains':
    'Von mehreren Anbietern ohne Domains kann jeder die Benutzer der anderen anmelden. Geben Sie ihre Domains an ({settings}).',
  'groups-prefix-shared':
    'Mehrere Anbieter haben dasselbe groups-prefix. Jeder entscheidet deshalb auch über die Gruppen der anderen ({settings}).',
  'providers-unused': 'Anbieter werden nur mit {on} verwendet ({settings}).',
  'acs-elsewhere':
    'Die Adresse für SAML-Antworten hat einen anderen Host als die Basisadresse. Das Cookie einer Anmeldung gehört deshalb zu einem anderen Host ({settings}).',
  'saml-deprecated':
    'Diese Einstellungen für einen einzelnen Anbieter sind veraltet. Verwenden Sie service.auth.saml=new ({settings}).',
  'saml-key-unused': '{key} gilt nur mit service.auth.saml=on. Mit new ist es {instead} ({settings}).',
  'federation-without-name':
    'Wenige Anbieter einer Föderation senden eine E-Mail-Adresse als NameID. Setzen Sie user-name-attribute ({settings}).',
  'federation-without-discovery':
    'Ein Dienst für Metadaten-Abfragen hat keine Liste von Namen. Benutzer finden neue Anbieter deshalb nur mit einer discovery-url ({settings}).',
  'cas-signs-in-all':
    'Der CAS-Server kann die Benutzer jedes anderen Anbieters anmelden, weil Domains CAS nicht einschränken ({settings}).',
  'cookie-for-scripts': '{key} ist ausgeschaltet: Skripte in Seiten können das Token lesen.',
  'admin-password-overridden': '{key} ersetzt das gespeicherte Passwort von admin.',
  'admin-not-locked-out': '{key} ist ausgeschaltet: Passwörter von Administratoren können unbegrenzt geraten werden.',
  'test-users': '{key} ist eingeschaltet: Benutzer mit bekannten Passwörtern werden erstellt.',
  'saml-unsolicited': '{key} ist eingeschaltet: Antworten ohne eine Anfrage dieses Dienstes werden angenommen.',
  'oidc-unverified-email':
    '{key} ist eingeschaltet: Jeder, der beim Anbieter eine Adresse eintragen kann, kann das Konto dieses Namens übernehmen.',
  'cas-not-verified':
    '{key} ist eingeschaltet: Ein Angreifer auf dem Weg zum CAS-Server kann sich als jeder Benutzer anmelden. Nur für Tests.',
}

export default de
