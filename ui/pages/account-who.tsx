import { Card } from '../components/page.tsx'
import { Choice } from '../components/field.tsx'
import { attempt } from '../components/toast.tsx'
import { ask } from '../lib/api.ts'
import { part } from '../lib/base.ts'
import { languages, t } from '../lib/language.ts'
import { Link } from '../lib/router.tsx'
import { useSession } from '../lib/session.ts'

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
        <dt>{t('userName')}</dt>
        <dd>{me.name}</dd>
        <dt>{t('userId')}</dt>
        <dd>
          <code>{me.id}</code>
        </dd>
        <dt>{t('homeContext')}</dt>
        <dd>
          {me.homeContext === undefined ? (
            t('none')
          ) : (
            <Link to={`contexts/${part(me.homeContext)}/files`}>{me.homeContext}</Link>
          )}
        </dd>
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
