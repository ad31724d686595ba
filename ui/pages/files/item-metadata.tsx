import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { FormError } from '../../components/form.tsx'
import { Await } from '../../components/page.tsx'
import { SharedForm } from '../../components/shared-form.tsx'
import { attempt, tell } from '../../components/toast.tsx'
import { Problem } from '../../lib/api.ts'
import { address } from '../../lib/base.ts'
import { type Item, loadMetadata, metadataPath, saveTexts } from '../../lib/files.ts'
import { type Graph, shownStatement, shortened } from '../../lib/graph.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { visible } from '../../lib/text.ts'
import type { MessageKey } from '../../messages/en.ts'

const DCT = 'http://purl.org/dc/terms/'

/** Properties of Dublin Core that a form shows; DCAT uses the same. */
const common = {
  creator: 'metadataCreator',
  publisher: 'metadataPublisher',
  issued: 'metadataIssued',
  language: 'language',
  license: 'metadataLicense',
  rights: 'metadataRights',
  source: 'metadataSource',
  identifier: 'metadataIdentifier',
} as const satisfies Readonly<Record<string, MessageKey>>

type CommonFields = Record<keyof typeof common, string>
const names = Object.keys(common) as ReadonlyArray<keyof typeof common>

const fieldsIn = (graph: Graph): CommonFields =>
  Object.fromEntries(names.map(name => [name, shownStatement(graph, [DCT + name])?.value ?? ''])) as CommonFields

interface ItemMetadataProps {
  readonly item: Item
  readonly onChanged: () => void
}

/** The RDF metadata of an item: a form for common properties, and all statements. */
export function ItemMetadata({ item, onChanged }: ItemMetadataProps) {
  const [round, setRound] = useState(0)
  const [loaded, again] = useLoaded(() => loadMetadata(item), [item.context, item.entryId, round])
  const saved = (): void => {
    tell(t('saved'))
    setRound(round => round + 1)
    onChanged()
  }
  return (
    <>
      {item.canWriteMetadata && <CommonForm item={item} onSaved={saved} />}
      <Await loaded={loaded} again={again}>
        {({ value }) => <Statements graph={value} />}
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
    fieldsOf={fieldsIn}
    labelOf={name => t(common[name])}
    save={(graph, changed, tag) =>
      saveTexts(
        item,
        graph,
        names.flatMap(name => {
          const text = changed[name]
          return text === undefined ? [] : [[DCT + name, text.trim()] as const]
        }),
        tag,
      )
    }
    onSaved={onSaved}
  >
    {({ fields, set, problem }) => (
      <>
        <div class="field-pairs">
          {names.map(name => (
            <Field
              key={name}
              label={t(common[name])}
              value={fields[name]}
              onValue={text => set({ [name]: text })}
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

function Statements({ graph }: { readonly graph: Graph }) {
  const rows = Object.entries(graph).flatMap(([subject, properties]) =>
    Object.entries(properties).flatMap(([predicate, terms]) => terms.map(term => ({ subject, predicate, term }))),
  )
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
        </tr>
      </thead>
      <tbody>
        {rows.map(({ subject, predicate, term }, index) => (
          <tr key={index}>
            <td title={predicate}>
              {subject !== first?.subject && <span class="muted">{visible(shortened(subject))} </span>}
              {visible(shortened(predicate))}
            </td>
            <td>{visible(term.value)}</td>
            <td class="muted">{term.lang ?? (term.datatype === undefined ? term.type : shortened(term.datatype))}</td>
          </tr>
        ))}
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
