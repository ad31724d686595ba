import { Fact } from '../components/fact.tsx'
import { Choice } from '../components/field.tsx'
import { Card } from '../components/page.tsx'
import { attempt } from '../components/toast.tsx'
import { ask } from '../lib/api.ts'
import { part } from '../lib/base.ts'
import { labelsOf } from '../lib/labels.ts'
import { languages, t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { Link } from '../lib/router.tsx'
import { useSession } from '../lib/session.ts'
import { visible } from '../lib/text.ts'

/** The user's own data, as far as this page knows them. */
export function WhoAmI() {
  const { me, reload } = useSession()
  const save = async (language: string): Promise<void> => {
    await ask(`_principals/resource/${part(me.id)}`, { method: 'PUT', json: { language } })
    await reload()
  }
  const isListed = me.language === undefined || languages.some(([tag]) => tag === me.language)
  return (
    <Card title={t('who')}>
      <dl class="facts">
        <Fact name={t('userName')}>
          <span class="long">{visible(me.name)}</span>
        </Fact>
        {me.homeContext !== undefined && (
          <Fact name={t('homeContext')}>
            <OwnSpace id={me.homeContext} />
          </Fact>
        )}
      </dl>
      <Choice
        label={t('language')}
        value={me.language ?? ''}
        options={[
          ['', t('languageOfBrowser')] as const,
          ...languages,
          ...(isListed ? [] : [[me.language ?? '', me.language ?? ''] as const]),
        ]}
        onValue={language =>
          void attempt(
            () => save(language),
            () => t('saved'),
          )
        }
      />
    </Card>
  )
}

/** The user's own space by its title. */
function OwnSpace({ id }: { readonly id: string }) {
  const place = `_contexts/${id}`
  const [loaded] = useLoaded(signal => labelsOf([place], signal), [id])
  const title = loaded.state === 'ready' ? loaded.value.get(place) : undefined
  return <Link to={`contexts/${part(id)}/files`}>{visible(title ?? id)}</Link>
}
