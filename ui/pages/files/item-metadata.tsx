import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { FormError } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { Await } from '../../components/page.tsx'
import { SharedForm } from '../../components/shared-form.tsx'
import { attempt, tell } from '../../components/toast.tsx'
import { Problem } from '../../lib/api.ts'
import { address } from '../../lib/base.ts'
import { aboutItem, type Item, loadMetadata, metadataPath, saveTexts } from '../../lib/files.ts'
import { requireDate, requireValueOf } from '../../lib/literals.ts'
import { type Graph, ownStatement, shortened, valuesOf } from '../../lib/graph.ts'
import { languageChoices, nameOfLanguage, t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { hintOf, visible } from '../../lib/text.ts'
import { type Triple, triplesIn } from '../../lib/triples.ts'
import type { MessageKey } from '../../messages/en.ts'
import { EditStatement } from './edit-statement.tsx'

const DCT = 'http://purl.org/dc/terms/'
const DCAT = 'http://www.w3.org/ns/dcat#'

/** Properties that a form shows. */
const common = {
  creator: { iri: `${DCT}creator`, label: 'metadataCreator' },
  publisher: { iri: `${DCT}publisher`, label: 'metadataPublisher' },
  issued: { iri: `${DCT}issued`, label: 'metadataIssued' },
  language: { iri: `${DCT}language`, label: 'language' },
  license: { iri: `${DCT}license`, label: 'metadataLicense' },
  rights: { iri: `${DCT}rights`, label: 'metadataRights' },
  source: { iri: `${DCT}source`, label: 'metadataSource' },
  identifier: { iri: `${DCT}identifier`, label: 'metadataIdentifier' },
  place: { iri: `${DCT}spatial`, label: 'metadataPlace' },
  landingPage: { iri: `${DCAT}landingPage`, label: 'metadataLandingPage' },
} as const satisfies Readonly<Record<string, { readonly iri: string; readonly label: MessageKey }>>

type Suggestions = ReadonlyArray<readonly [value: string, label: string]>

const CREATIVE_COMMONS = 'https://creativecommons.org/'
const licenses: Suggestions = [
  [`${CREATIVE_COMMONS}publicdomain/zero/1.0/`, 'CC0 1.0'],
  [`${CREATIVE_COMMONS}licenses/by/4.0/`, 'CC BY 4.0'],
  [`${CREATIVE_COMMONS}licenses/by-sa/4.0/`, 'CC BY-SA 4.0'],
  [`${CREATIVE_COMMONS}licenses/by-nc/4.0/`, 'CC BY-NC 4.0'],
  [`${CREATIVE_COMMONS}licenses/by-nd/4.0/`, 'CC BY-ND 4.0'],
  ['https://opendatacommons.org/licenses/odbl/1-0/', 'ODbL 1.0'],
  ['https://www.apache.org/licenses/LICENSE-2.0', 'Apache 2.0'],
  ['https://opensource.org/license/mit', 'MIT'],
]

type CommonFields = Record<keyof typeof common, string>
const names = Object.keys(common) as ReadonlyArray<keyof typeof common>

const fieldsIn = (graph: Graph): CommonFields =>
  Object.fromEntries(names.map(name => [name, ownStatement(graph, [common[name].iri])?.value ?? ''])) as CommonFields

/** Common values, as catalogs expect them. Any other value can be typed. */
const suggestionsFor: Readonly<Partial<Record<keyof typeof common, () => Suggestions>>> = {
  language: languageChoices,
  license: () => licenses,
}

/** The language of the value that a field shows, and how many more there are. */
function hintIn(graph: Graph, predicate: string): string | undefined {
  const own = ownStatement(graph, [predicate])
  const language = own?.lang
  const more = valuesOf(graph, predicate).length - (own ? 1 : 0)
  const parts = [
    ...(language === undefined ? [] : [nameOfLanguage(language)]),
    ...(more > 0 ? [t('metadataMore', { count: more })] : []),
  ]
  return parts.length === 0 ? undefined : parts.join(' · ')
}

/** The datatype of the value that a field changes. */
function datatypeIn(graph: Graph, predicate: string): string | undefined {
  const shown = ownStatement(graph, [predicate])
  return shown && graph[shown.subject]?.[predicate]?.[shown.index]?.datatype
}

interface ItemMetadataProps {
  readonly item: Item
  readonly onChanged: () => void
}

/** The RDF metadata of an item: a form for common properties, and all statements. */
export function ItemMetadata({ item, onChanged }: ItemMetadataProps) {
  const [round, setRound] = useState(0)
  const [loaded, again] = useLoaded(() => loadMetadata(item), [item.context, item.entryId, round])
  const changed = (): void => {
    setRound(round => round + 1)
    onChanged()
  }
  const saved = (): void => {
    tell(t('saved'))
    changed()
  }
  return (
    <>
      {item.canWriteMetadata && <CommonForm item={item} onSaved={saved} />}
      <Await loaded={loaded} again={again}>
        {({ value }) => <Statements item={item} graph={value} onSaved={changed} />}
      </Await>
      <div class="buttons">
        {(
          [
            ['Turtle', 'text/turtle'],
            ['JSON-LD', 'application/ld+json'],
          ] as const
        ).map(([name, type]) => (
          <Button key={type} kind="quiet" size="small" onPress={() => copyAs(item, type)}>
            {t('copyAs', { name })}
          </Button>
        ))}
      </div>
    </>
  )
}

const CommonForm = ({ item, onSaved }: { readonly item: Item; readonly onSaved: () => void }) => (
  <SharedForm
    load={() => loadMetadata(item)}
    inputs={[item.context, item.entryId]}
    fieldsOf={graph => fieldsIn(aboutItem(item, graph))}
    labelOf={name => t(common[name].label)}
    save={async (graph, changed, tag) => {
      if (changed.issued !== undefined) {
        requireDate(changed.issued)
        requireValueOf(datatypeIn(aboutItem(item, graph), common.issued.iri), changed.issued)
      }
      await saveTexts(
        item,
        graph,
        names.flatMap(name => {
          const text = changed[name]
          return text === undefined ? [] : [[common[name].iri, text.trim()] as const]
        }),
        tag,
      )
    }}
    onSaved={onSaved}
  >
    {({ fields, set, problem, state }) => (
      <>
        <div class="field-pairs">
          {names.map(name => (
            <Field
              key={name}
              label={t(common[name].label)}
              value={fields[name]}
              hint={hintIn(aboutItem(item, state), common[name].iri)}
              onValue={text => set({ [name]: text })}
              suggestions={suggestionsFor[name]?.()}
              autocomplete="off"
            />
          ))}
        </div>
        <FormError problem={problem} />
        <div class="buttons">
          <Button type="submit">{t('save')}</Button>
        </div>
      </>
    )}
  </SharedForm>
)

interface StatementsProps {
  readonly item: Item
  readonly graph: Graph
  readonly onSaved: () => void
}

/** All statements. Who may change the metadata changes, adds and removes them. */
function Statements({ item, graph, onSaved }: StatementsProps) {
  const [edited, setEdited] = useState<Triple | 'new'>()
  return (
    <>
      <StatementTable graph={graph} onEdit={item.canWriteMetadata ? setEdited : undefined} />
      {item.canWriteMetadata && (
        <div class="buttons">
          <Button kind="quiet" size="small" onPress={() => setEdited('new')}>
            {t('statementAdd')}
          </Button>
        </div>
      )}
      {edited !== undefined && (
        <EditStatement
          item={item}
          known={graph}
          triple={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={onSaved}
        />
      )}
    </>
  )
}

interface StatementTableProps {
  readonly graph: Graph
  readonly onEdit: ((triple: Triple) => void) | undefined
}

function StatementTable({ graph, onEdit }: StatementTableProps) {
  const rows = triplesIn(graph)
  if (rows.length === 0) return <p class="empty">{t('metadataNone')}</p>
  const [first] = rows
  return (
    <table class="statements small">
      <caption class="hidden">{t('metadata')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('metadataProperty')}</th>
          <th scope="col">{t('value')}</th>
          <th scope="col">{t('metadataType')}</th>
          {onEdit && (
            <th scope="col">
              <span class="hidden">{t('actions')}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((triple, index) => {
          const { subject, predicate, object } = triple
          const property = visible(shortened(predicate))
          return (
            <tr key={index}>
              <td title={predicate}>
                {subject !== first?.subject && <span class="muted">{visible(shortened(subject))} </span>}
                {property}
              </td>
              <td>{visible(object.value)}</td>
              <td class="muted">
                {object.lang ?? (object.datatype === undefined ? object.type : shortened(object.datatype))}
              </td>
              {onEdit && (
                <td>
                  {object.type !== 'bnode' && (
                    <button
                      type="button"
                      class="button quiet small only-icon"
                      aria-label={t('statementChangeOf', { property, value: hintOf(object.value) })}
                      onClick={() => onEdit(triple)}
                    >
                      <Icon name="edit" />
                    </button>
                  )}
                </td>
              )}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

async function copyAs(item: Item, type: string): Promise<void> {
  const copy = async (): Promise<void> => {
    const response = await fetch(address(metadataPath(item)), { headers: { accept: type } })
    if (!response.ok) throw new Problem(response.status, {})
    await navigator.clipboard?.writeText(await response.text())
  }
  await attempt(copy, t('copied'))
}
