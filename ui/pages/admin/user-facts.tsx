import { Fact } from '../../components/fact.tsx'
import { Card } from '../../components/page.tsx'
import { dateTime, utc } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import type { UserResource } from './user.tsx'
import { UserState } from './users.tsx'

interface UserFactsProps {
  readonly id: string
  readonly user: UserResource
}

/** What the service knows about a user and nobody types. */
export function UserFacts({ id, user }: UserFactsProps) {
  const { language, disabled = false, disabledUntil, temporaryPassword } = user
  return (
    <Card title={t('userAbout')}>
      <dl class="facts">
        <Fact name={t('state')}>
          <UserState disabled={disabled} lockedUntil={disabledUntil} />
        </Fact>
        {disabledUntil !== undefined && <Fact name={t('lockedUntil')}>{dateTime(utc(disabledUntil))}</Fact>}
        {temporaryPassword && <Fact name={t('password')}>{t('temporaryPasswordState')}</Fact>}
        <Fact name={t('language')}>{language ?? t('languageOfBrowser')}</Fact>
        <Fact name={t('userId')}>
          <code>{id}</code>
        </Fact>
      </dl>
    </Card>
  )
}
