import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Area, Choice, Field } from '../../components/field.tsx'
import { FormError } from '../../components/form.tsx'
import { SharedForm } from '../../components/shared-form.tsx'
import { tell } from '../../components/toast.tsx'
import {
  type Details,
  detailsIn,
  fieldOf,
  fieldPlaces,
  newPlace,
  placeOf,
  saveDetails,
  TAGS,
  type TextKind,
  type TextPlace,
  textKinds,
} from '../../lib/details.ts'
import { isNamedByLabel, type Item, loadMetadata } from '../../lib/files.ts'
import type { Graph } from '../../lib/graph.ts'
import { languageChoices, nameOfLanguage, t } from '../../lib/language.ts'

interface EditDetailsProps {
  readonly item: Item
  readonly onChanged: () => void
  /** Shown below the form. */
  readonly after: ComponentChildren
}

/** `Title (Swedish)`; of several titles in Swedish, the second is `Title (Swedish) 2`. */
export function labelOfText(kind: TextKind, { lang, number }: TextPlace): string {
  const label = lang === '' ? t(kind) : t('textInLanguage', { text: t(kind), language: nameOfLanguage(lang) })
  return number === 0 ? label : `${label} ${number + 1}`
}

const kindOf = ({ predicate }: TextPlace): TextKind =>
  (textKinds.title as readonly string[]).includes(predicate) ? 'title' : 'description'

const labelOfField = (field: string): string => {
  if (field === TAGS) return t('tags')
  const place = placeOf(field)
  return labelOfText(kindOf(place), place)
}

/** Edits title, description and tags in the metadata of an item: each text in its language. */
export function EditDetails({ item, onChanged, after }: EditDetailsProps) {
  const saved = (): void => {
    tell(t('saved'))
    onChanged()
  }
  return (
    <SharedForm
      load={() => loadMetadata(item)}
      inputs={[item.context, item.entryId]}
      fieldsOf={(metadata: Graph) => detailsIn(item, metadata)}
      labelOf={labelOfField}
      save={(metadata, changed, tag) => saveDetails(item, metadata, changed, tag)}
      onSaved={saved}
      after={after}
    >
      {({ fields, set, problem, state }) => {
        const texts = { item, metadata: state, fields, set }
        return (
          <>
            <Texts kind="title" {...texts} />
            <Texts kind="description" {...texts} />
            <Field
              label={t('tags')}
              value={fields[TAGS] ?? ''}
              onValue={tags => set({ [TAGS]: tags })}
              autocomplete="off"
              hint={t('tagsHint')}
            />
            <FormError problem={problem} />
            <div class="buttons">
              <Button type="submit">{t('save')}</Button>
            </div>
          </>
        )
      }}
    </SharedForm>
  )
}

interface TextsProps {
  readonly kind: TextKind
  readonly item: Item
  readonly metadata: Graph
  readonly fields: Details
  readonly set: (changed: Details) => void
}

/** The title or the description in each language, and a button for another language. */
function Texts({ kind, item, metadata, fields, set }: TextsProps) {
  const [added, setAdded] = useState<readonly string[]>([])
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const choices = box.current?.querySelectorAll<HTMLElement>('.added select')
    choices?.[choices.length - 1]?.focus()
  }, [added.length])
  const stored = fieldPlaces(item, metadata, kind)
  const isStored = (language: string): boolean => stored.some(({ lang }) => lang === language)
  // A field of a language that was added is among the stored ones after it has been saved.
  const more = added.filter(lang => !isStored(lang))
  const free = languageChoices().filter(([tag]) => !isStored(tag) && !more.includes(tag))
  const change = (place: TextPlace) => (text: string) => set({ [fieldOf(place)]: text })
  const [next] = free
  const rechoose = (before: string, lang: string): void => {
    const [from, to] = [fieldOf(newPlace(kind, before)), fieldOf(newPlace(kind, lang))]
    set({ [from]: '', [to]: fields[from] ?? '' })
    setAdded(added.map(one => (one === before ? lang : one)))
  }
  return (
    <div class="stack texts" ref={box}>
      {stored.map(place => (
        <TextField
          key={fieldOf(place)}
          kind={kind}
          place={place}
          value={fields[fieldOf(place)] ?? ''}
          onValue={change(place)}
          // A folder, a link and a text have their name from their title.
          required={kind === 'title' && !isNamedByLabel(item) && stored.length === 1}
        />
      ))}
      {more.map((lang, index) => (
        <div key={index} class="stack added">
          <Choice
            label={t('textLanguage', { text: t(kind) })}
            value={lang}
            options={[[lang, nameOfLanguage(lang)], ...free]}
            onValue={to => rechoose(lang, to)}
          />
          <TextField
            kind={kind}
            place={newPlace(kind, lang)}
            value={fields[fieldOf(newPlace(kind, lang))] ?? ''}
            onValue={change(newPlace(kind, lang))}
          />
        </div>
      ))}
      {next && (
        <div>
          <button
            type="button"
            class="link add"
            aria-label={t('addLanguageTo', { text: t(kind) })}
            onClick={() => setAdded([...added, next[0]])}
          >
            {t('addLanguage')}
          </button>
        </div>
      )}
    </div>
  )
}

interface TextFieldProps {
  readonly kind: TextKind
  readonly place: TextPlace
  readonly value: string
  readonly onValue: (text: string) => void
  readonly required?: boolean
}

function TextField({ kind, place, value, onValue, required = false }: TextFieldProps) {
  const shared = { label: labelOfText(kind, place), value, onValue, lang: place.lang === '' ? undefined : place.lang }
  return kind === 'title' ? <Field {...shared} autocomplete="off" required={required} /> : <Area {...shared} />
}
