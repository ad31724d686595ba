import type { FindingTexts } from '../../lib/findings.ts'

/** Swedish texts of the findings of `stowage doctor`, by code. */
const sv: FindingTexts = {
  'settings-built-in': 'Inställningar: ingen fil',
  'settings-file': 'Inställningar: {file}',
  'settings-file-readable':
    'Inställningar: alla användare på datorn kan läsa {key} i {file}. Kör chmod o-rwx på filen.',
  'base-address': 'Basadress: {url}',
  cookie: 'Kaka: {cookie}',
  'unknown-key': '{key} är ingen känd inställning.',
  'misspelt-key': '{key} är ingen känd inställning. Menar du {nearest}?',
  'unknown-variable': '{variable} är inte variabeln för någon känd inställning.',
  'misspelt-variable': '{variable} är inte variabeln för någon känd inställning. Menar du {nearest}?',
  'data-folder': 'Datamapp: {folder}',
  'data-folder-new': 'Datamapp: {folder} (den första starten skapar den)',
  'data-folder-unusable': 'Datamappen går inte att använda. Meddelande: {reason}',
  'data-folder-read-only':
    'Tjänstens användare kan inte skriva i datamappen {folder}, eller så är mappen skrivskyddad.',
  'data-folder-exposed': 'Datamapp: andra användare kan läsa eller ändra {path}. Kör chmod go-rwx på den.',
  'files-missing':
    'Filer: databasen har filer, men det finns inga i {folder}. Är disken monterad? Stoppa tjänsten och följ {page}.',
  'disk-free': 'Datamappens disk: {free, size} av {size, size} ledigt',
  'disk-low': 'Datamappens disk: bara {free, size} av {size, size} ledigt. Frigör utrymme innan nya data nekas.',
  'disk-full': 'Datamappens disk: bara {free, size} av {size, size} ledigt. Nya data nekas. Frigör utrymme.',
  'open-files': 'Öppna filer: högst {files}',
  'open-files-few': 'Öppna filer: högst {files}. Höj LimitNOFILE (systemd) eller ulimit -n till 65536.',
  bucket: 'Filer: {place}',
  'bucket-unusable': 'Platsen för filerna går inte att använda. Meddelande: {reason}',
  redis: 'Redis: {host}',
  'redis-unusable': 'Redis går inte att använda. Meddelande: {reason}',
  'database-server': 'Lagring: PostgreSQL {version} på {place}',
  'database-clock': 'Klocka: {ms} ms skillnad mot databasens klocka',
  'database-clock-behind': 'Klocka: den går {seconds} s före databasens klocka. Ställ in båda rätt.',
  'database-clock-ahead': 'Klocka: den går {seconds} s efter databasens klocka. Ställ in båda rätt.',
  node: 'Nod {id}: version {version}',
  'node-setting': 'Nod {id}: {key} är {own} här och {other} där.',
  'node-token-key': 'Nod {id}: tokennyckeln är {own} här och {other} där (fingeravtryck).',
  'node-app-key': 'Nod {id}: nyckeln för autentiseringsappar är {own} här och {other} där (fingeravtryck).',
  'token-key': 'Tokennyckel: fingeravtryck {fingerprints}',
  'token-key-new': 'Tokennyckel: {file} finns inte. Den första starten skapar filen. Alla noder behöver samma fil.',
  'token-key-unusable': 'Tokennyckeln går inte att använda. Meddelande: {reason}',
  'store-unusable': 'Lagringen går inte att använda. Meddelande: {reason}',
  'store-damaged': 'Lagring: databasen är skadad. Stoppa tjänsten och följ {page}. Meddelande: {reason}',
  'store-newer':
    'Lagring: den har schemaversion {found}, men den här versionen av Stowage känner bara till versioner upp till {known}. En nyare Stowage har använt den. Starta den, eller återställ en äldre säkerhetskopia.',
  'store-incomplete': 'Lagring: `restore`, `migrate-store` eller `import` har inte fyllt den helt. Kör kommandot igen.',
  'store-current': 'Lagring: tabellerna passar den här versionen.',
  'store-older': 'Lagring: tabellerna är från en äldre version. Nästa start uppgraderar dem.',
  'context-id-reserved': 'Utrymme {id}: /{id} är nu en av tjänstens adresser. Flytta innehållet med export och import.',
  'context-name-reserved': 'Utrymme {id}: namnet ”{name}” är nu reserverat. Ge utrymmet ett annat.',
  'backups-off': 'Säkerhetskopior: tjänsten gör inga (service.backup.schedule).',
  'backups-unchecked': 'Säkerhetskopiorna kontrollerades inte. Meddelande: {reason}',
  'backups-after-start': 'Säkerhetskopior: tjänsten gör den första efter sin start.',
  'backups-none': 'Säkerhetskopior: det finns ingen ännu.',
  'backups-unusable': 'Platsen för säkerhetskopiorna går inte att använda. Meddelande: {reason}',
  'backup-made': 'Säkerhetskopior: den senaste är från {made, time}, med {files, plural, one {# fil} other {# filer}}.',
  'backup-overdue':
    'Säkerhetskopior: den senaste är från {made, time}, med {files, plural, one {# fil} other {# filer}}. En nyare är försenad.',
  'backup-failed': 'Den senaste säkerhetskopieringen misslyckades. Meddelande: {reason}',
  'backup-key': 'Säkerhetskopior: signerade med nyckeln {key}',
  'backup-gone': 'Säkerhetskopior: den från {made, time} finns inte längre i {place}. Är disken monterad?',
  'backup-back':
    'Säkerhetskopior: den från {made, time} finns åter i {place}. Starta om tjänsten, som då gör en ny där.',
  'backups-damaged':
    'Säkerhetskopior: filer i {count, plural, one {# tidigare säkerhetskopia} other {# tidigare säkerhetskopior}} är skadade. `stowage backup list {place}` nämner varje sådan säkerhetskopia och kommandot som nämner dess filer. Hämta tillbaka en sådan fil från en senare säkerhetskopia.',
  'backup-unreadable': 'Säkerhetskopior: manifestet {path} är skadat eller från en annan version.',
  'backup-changed': 'Säkerhetskopior: manifestet för den från {made, time} ({path}) ändrades efter att det signerades.',
  'backup-not-remembered':
    'Säkerhetskopior: i {place} finns en senare säkerhetskopia av den här lagringen, från {made, time}, med {files, plural, one {# fil} other {# filer}}, som den här datamappen inte känner till. Mappen kan vara en gammal kopia. Är dess disk monterad? Om lagringen inte har förlorat något kör du `stowage backup accept {place}`.',
  'backups-of-others':
    'Säkerhetskopior: {count, plural, one {# säkerhetskopia av en annan lagring, eller av den här före en återställning, ligger} other {# säkerhetskopior av en annan lagring, eller av den här före en återställning, ligger}} kvar. Om den här lagringen inte har förlorat något kör du `stowage backup accept {place}`. Annars återställer du den säkerhetskopia som `stowage backup list {place}` kallar den senaste bra. Om en annan tjänst gör säkerhetskopior där ger du en av de två en annan plats.',
  'backups-of-future':
    'Säkerhetskopior: {count, plural, one {# säkerhetskopia ligger} other {# säkerhetskopior ligger}} i framtiden. Enligt den här datorns klocka är det {now, time}. Ställ klockan om den går fel. Om den gick fel tidigare ger du upp dessa säkerhetskopior och flyttar från deras plats: {paths}',
  'backups-none-of-store': 'Säkerhetskopior: den här lagringen har inga ännu. I {place} finns en från {made, time}.',
  'backups-of-lost-store':
    'Säkerhetskopior: den här lagringen har inga ännu. I {place} finns en från {made, time} av en annan lagring, som skapades {store, time}. Om du har återställt den följer nästa säkerhetskopia av sig själv. Om den är förlorad stoppar du tjänsten och monterar dess disk eller återställer den. Ange annars en annan plats.',
  'backup-of-damaged-store': 'Säkerhetskopior: databasen är skadad. I {place} finns en från {made, time}. Följ {page}.',
  'backup-without-store':
    'Säkerhetskopior: det finns ingen lagring i {folder}. I {place} finns en säkerhetskopia från {made, time}. Montera lagringens disk, eller återställ säkerhetskopian.',
  'backups-unproven': 'Säkerhetskopior: ingen har återställts på prov ännu (service.backup.prove).',
  'backup-proven': 'Säkerhetskopior: den från {made, time} återställdes på prov {proven, time}.',
  'backup-proof-overdue':
    'Säkerhetskopior: den från {made, time} återställdes på prov {proven, time}. Ett nyare prov är försenat.',
  'backup-proof-failed': 'Den senaste provåterställningen hittade ett problem. Meddelande: {reason}',
  'backup-proof-note': 'Den senaste säkerhetskopian kontrollerades men återställdes inte på prov. Meddelande: {reason}',
  'backup-restore': 'Säkerhetskopior: en återställning tar {seconds} s.',
  'backup-newest-change': 'Säkerhetskopior: den senaste ändringen i den kontrollerade är från {changed, time}.',
  'breached-included': 'Läckta lösenord: {count} i den medföljande listan',
  'breached-list': 'Läckta lösenord: {count} i {place}',
  'breached-list-small': 'Läckta lösenord: bara {count} i {place}. Där saknas de flesta.',
  'breached-list-unusable': 'Listan över läckta lösenord går inte att använda. Meddelande: {reason}',
  'factors-off': 'Tvåstegsverifiering: avstängd, ingen kan ställa in den',
  'factors-optional': 'Tvåstegsverifiering: frivillig',
  'factors-for-all': 'Tvåstegsverifiering: krävs av alla användare',
  'factors-for-admins': 'Tvåstegsverifiering: krävs av administratörer',
  'factors-for-groups': 'Tvåstegsverifiering: krävs av medlemmar i {groups}',
  'factors-for-admins-and-groups': 'Tvåstegsverifiering: krävs av administratörer och medlemmar i {groups}',
  'factor-group-missing':
    'Tvåstegsverifiering: det finns ingen grupp ”{name}” (service.auth.second-factor.groups.<n>).',
  apps: 'Tvåstegsverifiering: {count, plural, one {# autentiseringsapp} other {# autentiseringsappar}}',
  'app-key-missing':
    'Tvåstegsverifiering: {sealed, plural, one {# autentiseringsapp är krypterad} other {# autentiseringsappar är krypterade}} med en nyckel som saknas (totalt {count}). Återställ nyckeln från en kopia.',
  'app-key-file-missing':
    'Tvåstegsverifiering: nyckelfilen {file} saknas, så {apps, plural, one {# autentiseringsapp} other {# autentiseringsappar}} går inte att använda. Återställ filen från en kopia.',
  'app-keys-unusable': 'Nycklarna för autentiseringsappar går inte att använda. Meddelande: {reason}',
  'passkeys-off': 'Lösennycklar: avstängda',
  'passkeys-not-offered':
    'Lösennycklar: erbjuds inte, eftersom webbläsare behöver en basadress med värdnamn och https, eller localhost',
  'passkeys-for-sign-in': 'Lösennycklar: bundna till värden {host}, även i stället för lösenordet',
  'passkeys-as-factor': 'Lösennycklar: bundna till värden {host}, som andra steg',
  passkeys: 'Tvåstegsverifiering: {count, plural, one {# lösennyckel} other {# lösennycklar}}',
  'passkeys-unusable':
    'Tvåstegsverifiering: {count, plural, one {# lösennyckel} other {# lösennycklar}} går inte att använda, eftersom lösennycklar inte erbjuds.',
  'passkeys-of-other-address':
    'Tvåstegsverifiering: {foreign, plural, one {# lösennyckel lades} other {# lösennycklar lades}} till på en annan basadress än {base} (totalt {count}). Om värden var en annan behöver ägarna sina återställningskoder.',
  'protocol-off': '{protocol}: avstängt',
  'sso-groups': '{provider}: grupperna ”{prefix}…” kommer från {attribute}. De som saknas skapas.',
  'sso-known-groups': '{provider}: grupperna ”{prefix}…” kommer från {attribute}. Bara de som finns räknas.',
  'sso-admins': '{provider}: {attribute}={value} gör användare till administratörer.',
  'sso-profile': '{provider}: profilen kommer från attribut: {map}',
  'sso-required': '{provider}: krävda värden för {attributes}',
  'provider-clock': '{provider}: klockorna skiljer sig {seconds} s.',
  'provider-clock-wrong': '{provider}: klockorna skiljer sig {seconds} s. Ställ in båda rätt.',
  'saml-unusable': 'SAML går inte att använda. Meddelande: {reason}',
  'signing-certificate':
    'SAML: det egna certifikatet för signering går ut om {days, plural, one {# dag} other {# dagar}}.',
  'signing-certificate-expired': 'SAML: det egna certifikatet för signering har gått ut.',
  'encryption-certificate':
    'SAML: det egna certifikatet för kryptering går ut om {days, plural, one {# dag} other {# dagar}}.',
  'encryption-certificate-expired': 'SAML: det egna certifikatet för kryptering har gått ut.',
  'saml-certificate': '{provider}: certifikatet ”{subject}” går ut om {days, plural, one {# dag} other {# dagar}}.',
  'saml-certificate-expired': '{provider}: certifikatet ”{subject}” har gått ut.',
  'saml-acs': '{provider}: adress för SAML-svar {url}',
  'saml-acs-elsewhere': '{provider}: svaren går till {url}, men tjänsten tar emot dem på {own} eller {store}.',
  'saml-metadata':
    '{provider}: metadata för {entity} från {url}, {keys, plural, one {# nyckel} other {# nycklar}} för signaturer',
  'saml-metadata-expired': '{provider}: metadata gäller inte längre.',
  'saml-metadata-unusable': '{provider}: metadata går inte att använda. Meddelande: {reason}',
  'saml-metadata-unused': '{provider}: en del av metadata används inte. Meddelande: {reason}',
  'saml-signer': '{provider}: metadata är signerade med certifikatet {fingerprint}, som gäller till {until, time}.',
  'saml-logout': '{provider}: gemensam utloggning (single logout, {mode}) på {url}',
  'saml-without-logout':
    '{provider}: leverantörens metadata har ingen adress för gemensam utloggning (single logout) med redirect eller POST.',
  'federation-unusable': '{provider}: federationen går inte att använda. Meddelande: {reason}',
  'federation-discovery': '{provider}: användarna väljer sin organisation på {url}.',
  'federation-queries': '{provider}: {url} svarar på frågor.',
  'federation-metadata':
    '{provider}: en federation med {providers, plural, one {# leverantör} other {# leverantörer}}, varav {unusable} inte kan användas, giltig i {days, plural, one {# dag} other {# dagar}}, från {url}',
  'federation-metadata-unusable': '{provider}: federationens metadata går inte att använda. Meddelande: {reason}',
  'oidc-unusable': 'OpenID Connect går inte att använda. Meddelande: {reason}',
  'oidc-redirect': '{provider}: omdirigerings-URI {url}',
  'oidc-provider': '{provider}: {issuer}, {keys, plural, one {# nyckel} other {# nycklar}}, {algorithms}',
  'oidc-provider-unusable': '{provider}: konfigurationen går inte att använda. Meddelande: {reason}',
  'oidc-sign-out': '{provider}: en utloggning här går vidare till {url}.',
  'oidc-without-sign-out': '{provider}: single-logout är på, men leverantören har ingen end_session_endpoint.',
  cas: 'CAS: {version} på {server}, adress att registrera {url}',
  'cas-answers': 'CAS: {version} på {server}: servern svarar och nekar en okänd biljett.',
  'cas-unregistered':
    'CAS: {version} på {server}: servern känner inte till tjänsten. Registrera tjänstens adress där. Meddelande: {reason}',
  'cas-unusable': 'CAS: {version} på {server}: kontrollen {check} misslyckades. Meddelande: {reason}',
  'content-origin': 'Adress för aktiva filer: {url}',
  'content-origin-elsewhere': 'Adress för aktiva filer: {url} leder inte till tjänsten. {path} svarar med {status}.',
  'content-origin-without-host':
    'Adress för aktiva filer: {url} svarar som basadressen, så filer skulle komma tillbaka dit utan slut. Proxyn måste skicka vidare headern Host.',
  'content-origin-unchecked': 'Adress för aktiva filer: {url} kan inte kontrolleras just nu. Meddelande: {reason}',
  'virus-scan': 'Viruskontroll: {version} på {place}',
  'virus-scan-blind': 'Viruskontroll: clamd känner inte igen testfilen EICAR.',
  'virus-scan-fails': 'Filer kan inte kontrolleras för virus och lagras utan kontroll. Meddelande: {reason}',
  'virus-scan-rejects': 'Filer kan inte kontrolleras för virus och nekas. Meddelande: {reason}',
  'base-address-not-set':
    'service.baseurl.folder är inte angiven, så URI:er i svar börjar med http://127.0.0.1 ({settings}).',
  'no-trusted-proxy':
    'Tjänsten kan nås från andra datorer, men ingen omvänd proxy är betrodd. Bara en proxy begränsar varje adress anslutningar och förfrågningar ({settings}).',
  'every-peer-trusted': 'Varje dator är en betrodd proxy, så en klient kan uppge vilken adress som helst ({settings}).',
  'cors-incomplete': 'Förfrågningar från andra webbplatser behöver både reglaget och minst en adress ({settings}).',
  'database-not-verified':
    'Med sslmode=prefer eller allow kan data och lösenord läsas på nätverket. Använd verify-full ({settings}).',
  'cookie-secure-anyway': 'Kakan är ändå Secure, eftersom webbläsare nekar SameSite=None utan Secure ({settings}).',
  'cookie-needs-https':
    'Webbläsare godtar en kaka med Secure bara över https, så ingen kan logga in i webbläsaren ({settings}).',
  'cookie-without-https': 'Kakan skickas även över http utan kryptering, fast basadressen har https ({settings}).',
  'cookie-outside-path':
    'Webbläsare skickar inte kakan till basadressen, eftersom den ligger utanför kakans sökväg ({settings}).',
  'login-ends-early': 'Sessioner tar slut före sin högsta ålder ({settings}).',
  'token-key-unused': 'Nyckelfilen används bara när sessioner ligger utanför arbetsminnet ({settings}).',
  'whitelist-unused':
    'Listan över tillåtna användare (whitelist) gäller bara med service.auth.password=whitelist ({settings}).',
  'basic-without-https': 'Lösenord kan läsas på nätverket, eftersom basadressen inte har https ({settings}).',
  'mail-password-in-clear': 'Lösenordet till e-postservern skickas utan kryptering ({settings}).',
  'content-origin-without-https':
    'Filer och deras biljetter kan läsas på nätverket, eftersom adressen för aktiva filer inte har https ({settings}).',
  'virus-scan-optional':
    'Filer lagras utan viruskontroll medan clamd inte svarar och när de är för stora för den ({settings}).',
  'quota-unused': 'En standardkvot är angiven, men kvoter är avstängda ({settings}).',
  'proxy-hosts-unused': 'Värdar för proxyn är angivna, men proxyn är avstängd ({settings}).',
  'basic-without-factor':
    'Användare med tvåstegsverifiering kan inte använda HTTP Basic. Deras program använder åtkomstnycklar ({settings}).',
  'nobody-can-sign-in': 'Ingen kan logga in: lösenord och alla protokoll ({protocols}) är avstängda ({settings}).',
  'providers-without-domains':
    'Av flera leverantörer utan domäner kan var och en logga in de andras användare. Ange deras domäner ({settings}).',
  'groups-prefix-shared':
    'Flera leverantörer har samma groups-prefix, så var och en bestämmer över de andras grupper ({settings}).',
  'providers-unused': 'Leverantörer används bara med {on} ({settings}).',
  'acs-elsewhere':
    'Adressen för SAML-svar har en annan värd än basadressen, så kakan för en inloggning hör till en annan värd ({settings}).',
  'saml-deprecated': 'Inställningarna för en enda leverantör är föråldrade. Använd service.auth.saml=new ({settings}).',
  'saml-key-unused': '{key} gäller bara med service.auth.saml=on. Med new är det {instead} ({settings}).',
  'federation-without-name':
    'Få leverantörer i en federation skickar en e-postadress som NameID. Ange user-name-attribute ({settings}).',
  'federation-without-discovery':
    'En tjänst för metadatafrågor har ingen lista med namn, så användare hittar nya leverantörer bara med en discovery-url ({settings}).',
  'cas-signs-in-all':
    'CAS-servern kan logga in användare från alla andra leverantörer, eftersom domäner inte begränsar CAS ({settings}).',
  'cookie-for-scripts': '{key} är av: skript i sidor kan läsa token.',
  'admin-password-overridden': '{key} ersätter det lagrade lösenordet för admin.',
  'admin-not-locked-out': '{key} är av: administratörers lösenord kan gissas utan gräns.',
  'test-users': '{key} är på: användare med allmänt kända lösenord skapas.',
  'saml-unsolicited': '{key} är på: svar utan någon förfrågan från tjänsten godtas.',
  'oidc-unverified-email':
    '{key} är på: alla som kan ange en adress hos leverantören kan ta över kontot med det namnet.',
  'cas-not-verified':
    '{key} är på: en angripare på nätverksvägen till CAS-servern kan logga in som vilken användare som helst. Bara för tester.',
}

export default sv
