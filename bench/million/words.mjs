// Words of several languages for generated metadata. Frequent words come first: `wordOf` takes word n about 1/n as often as the first.

const of = text => text.trim().split(/\s+/)

export const words = {
  en: of(`data water quality map region city public transport energy environment statistics population report measurement
    station school health hospital traffic road building land use register annual survey budget election result climate
    temperature rainfall river lake forest species bird fish soil noise air emission carbon waste recycling housing income
    tax employment labour market trade import export industry agriculture farm crop harvest price index library museum
    archive heritage monument culture music tourism hotel restaurant bicycle parking bus train airport harbour ship bridge
    tunnel network cable fibre coverage postal address boundary district parish county municipality province coast island
    mountain glacier snow flood drought fire rescue police crime court law regulation permit licence inspection safety
    food drinking bathing beach park playground tree garden protected area habitat wetland marine seabed depth tide wave
    wind solar power plant grid consumption household vehicle charging fuel accident pedestrian camera sensor observation
    forecast model simulation scenario sample laboratory analysis method standard catalogue vocabulary dataset service
    interface document contract procurement supplier invoice payment grant project research university student teacher
    pupil childcare elderly care disability vaccination disease mortality birth migration language citizen participation`),
  de: of(`Daten Wasser Qualität Karte Region Stadt öffentlich Verkehr Energie Umwelt Statistik Bevölkerung Bericht Messung
    Messstelle Schule Gesundheit Krankenhaus Straße Gebäude Fläche Nutzung Verzeichnis jährlich Erhebung Haushalt Wahl
    Ergebnis Klima Temperatur Niederschlag Fluss See Wald Arten Vogel Fisch Boden Lärm Luft Ausstoß Kohlenstoff Abfall
    Wiederverwertung Wohnung Einkommen Steuer Beschäftigung Arbeit Markt Handel Einfuhr Ausfuhr Gewerbe Landwirtschaft Hof
    Ernte Preis Bücherei Museum Archiv Denkmal Kultur Musik Tourismus Gasthof Fahrrad Parkplatz Bus Bahn Flughafen Hafen
    Schiff Brücke Tunnel Netz Kabel Glasfaser Versorgung Anschrift Grenze Bezirk Gemeinde Kreis Provinz Küste Insel Berg
    Gletscher Schnee Hochwasser Dürre Feuerwehr Rettung Polizei Gericht Gesetz Verordnung Genehmigung Prüfung Sicherheit
    Lebensmittel Trinkwasser Badestelle Strand Park Spielplatz Baum Garten Schutzgebiet Lebensraum Moor Meer Tiefe Welle
    Wind Sonne Kraftwerk Verbrauch Fahrzeug Ladesäule Unfall Fußgänger Kamera Fühler Beobachtung Vorhersage Modell Probe
    Labor Verfahren Norm Katalog Wortschatz Datensatz Dienst Schnittstelle Dokument Vertrag Vergabe Rechnung Förderung
    Vorhaben Forschung Hochschule Lehrkraft Betreuung Pflege Impfung Krankheit Geburt Zuwanderung Sprache Beteiligung`),
  sv: of(`uppgifter vatten kvalitet karta region stad offentlig trafik energi miljö statistik befolkning rapport mätning
    mätplats skola hälsa sjukhus väg byggnad mark användning register årlig undersökning budget val resultat klimat
    temperatur nederbörd älv sjö skog arter fågel fisk jord buller luft utsläpp kol avfall återvinning bostad inkomst skatt
    sysselsättning arbete marknad handel import export industri jordbruk gård skörd pris bibliotek museum arkiv kulturarv
    kultur musik turism hotell cykel parkering buss tåg flygplats hamn fartyg bro tunnel nät kabel fiber täckning adress
    gräns distrikt församling kommun län kust ö fjäll glaciär snö översvämning torka brand räddning polis domstol lag
    förordning tillstånd tillsyn säkerhet livsmedel dricksvatten badplats strand park lekplats träd trädgård skyddsområde
    livsmiljö våtmark hav djup våg vind sol kraftverk förbrukning hushåll fordon laddstation olycka fotgängare kamera
    givare observation prognos modell prov laboratorium metod standard katalog ordlista datamängd tjänst gränssnitt avtal
    upphandling leverantör faktura bidrag projekt forskning universitet lärare elev barnomsorg äldreomsorg vaccination`),
  fr: of(`données eau qualité carte région ville public transport énergie environnement statistique population rapport mesure
    station école santé hôpital circulation route bâtiment terrain usage registre annuel enquête budget élection résultat
    climat température pluie rivière lac forêt espèce oiseau poisson sol bruit air émission carbone déchets recyclage
    logement revenu impôt emploi marché commerce industrie agriculture ferme récolte prix bibliothèque musée archives
    patrimoine culture musique tourisme hôtel vélo stationnement autobus train aéroport port navire pont tunnel réseau
    câble fibre couverture adresse limite commune département province côte île montagne glacier neige inondation
    sécheresse incendie secours police tribunal loi règlement permis inspection sécurité aliment baignade plage parc jeu
    arbre jardin habitat marais mer profondeur marée vague vent soleil centrale consommation ménage véhicule recharge
    accident piéton capteur observation prévision modèle échantillon laboratoire analyse méthode norme catalogue service`),
  el: of(`δεδομένα νερό ποιότητα χάρτης περιοχή πόλη μεταφορές ενέργεια περιβάλλον στατιστική πληθυσμός έκθεση μέτρηση
    σταθμός σχολείο υγεία νοσοκομείο δρόμος κτίριο γη χρήση μητρώο έρευνα προϋπολογισμός εκλογές αποτέλεσμα κλίμα
    θερμοκρασία βροχή ποτάμι λίμνη δάσος είδη πουλί ψάρι έδαφος θόρυβος αέρας ρύποι απόβλητα κατοικία εισόδημα φόρος`),
  ja: of(
    `水質 地図 地域 都市 交通 環境 統計 人口 報告 測定 学校 健康 病院 道路 建物 土地 登録 調査 予算 選挙 結果 気候 気温 降水 河川 湖沼 森林`,
  ),
}

/** Languages of titles, the first most often. */
export const languages = ['en', 'de', 'sv', 'fr', 'el', 'ja']

/** Numbers between 0 and 1, always the same for a seed (mulberry32). */
export function randomOf(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A number from 0 on, about 1/(n+1) as often as 0. */
export const rankBelow = (count, random) => Math.min(count - 1, Math.floor((count + 1) ** random()) - 1)

const wordOf = (language, random) => words[language][rankBelow(words[language].length, random)]

/** One in six is a compound, so that most words of a large store are rare. */
function termOf(language, random) {
  const word = wordOf(language, random)
  if (random() > 1 / 6 || language === 'ja' || language === 'el') return word
  return word + (language === 'en' || language === 'fr' ? '-' : '') + wordOf(language, random).toLowerCase()
}

/** This many words. */
export const phraseOf = (language, count, random) =>
  Array.from({ length: count }, () => termOf(language, random)).join(language === 'ja' ? 'の' : ' ')
