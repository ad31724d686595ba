import { Icon } from '../../components/icon.tsx'
import { Await, Card } from '../../components/page.tsx'
import { ask } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { contextTitle, type ListedContext } from '../../lib/contexts.ts'
import type { Finding } from '../../lib/findings.ts'
import { percent } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { loadMailFailures } from '../../lib/mail-failures.ts'
import { loadPortion } from '../../lib/portions.ts'
import { Link } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'
import type { Lockout } from './lockouts.tsx'

const NEARLY_FULL = 0.9
const MAX_CONTEXTS = 5
const MAX_MAILS = 5

interface Matter {
  readonly text: string
  readonly to: string
  readonly isBad: boolean
}

/** What an administrator should look at. @throws {Problem} */
async function loadMatters(signal: AbortSignal): Promise<readonly Matter[]> {
  const [{ items }, { lockouts }, { findings }, mails] = await Promise.all([
    loadPortion<'contexts', ListedContext>('contexts', { query: '', sort: 'fullness', limit: MAX_CONTEXTS }, signal),
    ask<{ readonly lockouts: readonly Lockout[] }>('management/lockouts', { signal }),
    ask<{ readonly findings: readonly Finding[] }>('management/findings', { signal }),
    loadMailFailures({}, signal),
  ])
  const levels = ['problem', 'warning'] as const
  return [
    ...levels.flatMap(level => {
      const count = findings.filter(finding => finding.level === level).length
      return count === 0
        ? []
        : [
            {
              text: `${t('adminFindings')}: ${t(`findings.${level}`, { count })}`,
              to: 'admin/checks',
              isBad: level === 'problem',
            },
          ]
    }),
    ...items.flatMap(context => {
      const level = fullness(context)
      if (level < NEARLY_FULL) return []
      const text = t('spaceFull', { name: visible(contextTitle(context)), percent: percent(level) })
      return [{ text, to: `admin/contexts/${part(context.contextId)}`, isBad: level >= 1 }]
    }),
    ...mails.slice(0, MAX_MAILS).map(({ userId, userName }) => ({
      text: t('mailsNotSent', { name: visible(userName ?? t('someone')) }),
      to: userId === undefined ? 'admin/audit?event=mail-failed' : `admin/users/${part(userId)}`,
      isBad: true,
    })),
    ...(lockouts.length === 0
      ? []
      : [{ text: t('usersLocked', { count: lockouts.length }), to: 'admin/lockouts', isBad: false }]),
  ]
}

const fullness = ({ quota }: ListedContext): number => {
  if (!quota || quota.quota < 0) return 0
  return quota.quota === 0 ? 0 : quota.fillLevel / quota.quota
}

/** What needs attention, or that nothing does. */
export function Attention() {
  const [loaded, again] = useLoaded(loadMatters, [])
  return (
    <Card title={t('attention')}>
      <Await loaded={loaded} again={again}>
        {matters =>
          matters.length === 0 ? (
            <p class="matter good">
              <Icon name="check" />
              {t('attentionNone')}
            </p>
          ) : (
            <ul class="matters">
              {matters.map(({ text, to, isBad }) => (
                <li key={text}>
                  <Link class={isBad ? 'matter bad' : 'matter warn'} to={to}>
                    <Icon name="warning" />
                    <span>{text}</span>
                  </Link>
                </li>
              ))}
            </ul>
          )
        }
      </Await>
    </Card>
  )
}
