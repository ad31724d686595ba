import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Area, Choice, Field } from '../../components/field.tsx'
import { SharedForm } from '../../components/shared-form.tsx'
import { attempt, tell, undoBy } from '../../components/toast.tsx'
import { Problem } from '../../lib/api.ts'
import { type Item, loadMetadata, saveMetadata, subjectOf } from '../../lib/files.ts'
import { tellProblem } from '../../lib/format.ts'
import type { Graph } from '../../lib/graph.ts'
import { t } from '../../lib/language.ts'
import {
  changedTriple,
  fieldsOf,
  IRI,
  latestOf,
  TEXT,
  type Triple,
  type TripleFields,
  withTriple,
} from '../../lib/triples.ts'

const labels = {
  property: 'metadataProperty',
  value: 'value',
  kind: 'valueKind',
  language: 'language',
} as const satisfies Readonly<Record<keyof TripleFields, string>>

/** Properties of Dublin Core and DCAT that are offered while typing. */
const SUGGESTED = [
  ['dcterms', 'title description creator publisher contributor issued modified language license rights accessRights'],
  ['dcterms', 'source identifier subject spatial temporal isPartOf relation'],
  ['dcat', 'keyword theme landingPage contactPoint version'],
].flatMap(([prefix, names = '']) => names.split(' ').map(name => [`${prefix}:${name}`, ''] as const))

/** The field that each refusal is about. */
const fieldOfCode: Readonly<Record<string, keyof TripleFields>> = {
  'invalid-property': 'property',
  'invalid-language-tag': 'language',
}

interface EditStatementProps {
  readonly item: Item
  /** The graph that the person sees. */
  readonly known: Graph
  /** The statement to change; a new one is added without it. */
  readonly triple: Triple | undefined
  readonly onClose: () => void
  readonly onSaved: () => void
}

/** Adds, changes or removes one statement. All others stay as they are, also what others have saved meanwhile. */
export function EditStatement({ item, known, triple, onClose, onSaved }: EditStatementProps) {
  const latestIn = (graph: Graph): Triple | undefined => triple && latestOf(triple, known, graph)
  const saved = (): void => {
    tell(t('saved'))
    onClose()
    onSaved()
  }
  const replace = async (before: Triple | undefined, after: Triple | undefined): Promise<void> => {
    const { value, tag } = await loadMetadata(item)
    await saveMetadata(item, withTriple(value, before, after), tag)
  }
  const remove = async (): Promise<void> => {
    const undo = undoBy(() => replace(undefined, triple), onSaved)
    if (await attempt(() => replace(triple, undefined), t('statementRemoved'), undo)) onClose()
    onSaved()
  }
  return (
    <Dialog title={t(triple ? 'statementChange' : 'statementAdd')} onClose={onClose}>
      <SharedForm
        load={() => loadMetadata(item)}
        inputs={[item.context, item.entryId]}
        fieldsOf={graph => fieldsOf(latestIn(graph))}
        labelOf={name => t(labels[name])}
        save={(graph, changed, tag) => {
          const before = latestIn(graph)
          const after = changedTriple(before ?? triple, subjectOf(item), changed)
          return saveMetadata(item, withTriple(graph, before, after), tag)
        }}
        onSaved={saved}
      >
        {({ fields: { property, value, kind, language }, set, problem }) => {
          const code = problem instanceof Problem ? problem.code : ''
          const errorAt = (name: keyof TripleFields): string | undefined =>
            problem !== undefined && (fieldOfCode[code] ?? 'value') === name ? tellProblem(problem) : undefined
          return (
            <>
              <Field
                label={t(labels.property)}
                value={property}
                onValue={property => set({ property })}
                suggestions={SUGGESTED}
                hint={t('propertyHint')}
                error={errorAt('property')}
                autocomplete="off"
                required
              />
              <Area
                label={t(labels.value)}
                value={value}
                onValue={value => set({ value })}
                error={errorAt('value')}
                required
              />
              <div class="field-pairs">
                <Choice
                  label={t(labels.kind)}
                  value={kind}
                  options={[
                    [TEXT, t('valueText')],
                    [IRI, t('address')],
                  ]}
                  onValue={kind => set({ kind })}
                />
                {kind === TEXT && (
                  <Field
                    label={t(labels.language)}
                    value={language}
                    onValue={language => set({ language })}
                    hint={t('languageTagHint')}
                    error={errorAt('language')}
                    autocomplete="off"
                  />
                )}
              </div>
              <DialogButtons onClose={onClose}>
                {triple && (
                  <Button kind="quiet danger" onPress={remove}>
                    {t('remove')}
                  </Button>
                )}
                <Button type="submit">{t('save')}</Button>
              </DialogButtons>
            </>
          )
        }}
      </SharedForm>
    </Dialog>
  )
}
