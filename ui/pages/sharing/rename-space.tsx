import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Card } from '../../components/page.tsx'
import { SharedForm } from '../../components/shared-form.tsx'
import { tell, undoBy } from '../../components/toast.tsx'
import { ask, askTagged } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { titleIn, titles } from '../../lib/contexts.ts'
import { tellProblem } from '../../lib/format.ts'
import { aboutThing, type Graph, languageShown, withText } from '../../lib/graph.ts'
import { t } from '../../lib/language.ts'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'

const MAX_TITLE = 255

interface RenameSpaceProps {
  /** Of the context. */
  readonly id: string
  readonly again: () => void
}

/** Changes the title of a space, for its owners. */
export function RenameSpace({ id, again }: RenameSpaceProps) {
  const { me } = useSession()
  const path = `_contexts/metadata/${part(id)}`
  const uri = me.baseUri + id
  const load = () => askTagged<Graph>(path)
  const save = async (graph: Graph, title: string, ifMatch: string | undefined): Promise<void> => {
    const own = withText(aboutThing(uri, graph), uri, titles, title.trim())
    await ask(path, { method: 'PUT', json: { ...graph, ...own }, ifMatch })
  }
  const giveBack = async (title: string): Promise<void> => {
    const { value, tag } = await load()
    await save(value, title, tag)
  }
  const saved = (title: string, before: string): void => {
    tell(
      t('renamed', { name: visible(title.trim()) }),
      undoBy(() => giveBack(before), again),
    )
    again()
  }
  return (
    <Card title={t('renameSpace')}>
      <SharedForm
        load={load}
        inputs={[id]}
        fieldsOf={graph => ({ title: titleIn(uri, graph) ?? '' })}
        labelOf={() => t('title')}
        save={async (graph, { title }, tag) => title !== undefined && (await save(graph, title, tag))}
        onSaved={({ title }, before) => saved(title, before.title)}
      >
        {({ fields: { title }, set, problem, state }) => (
          <div class="line">
            <Field
              label={t('title')}
              value={title}
              onValue={title => set({ title })}
              required
              maxLength={MAX_TITLE}
              autocomplete="off"
              hint={languageShown(aboutThing(uri, state), titles)}
              error={problem === undefined ? undefined : tellProblem(problem)}
            />
            <Button type="submit">{t('rename')}</Button>
          </div>
        )}
      </SharedForm>
    </Card>
  )
}
