import { useEffect } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { tell, tellBad } from '../../components/toast.tsx'
import { ago } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { loadMailFailures } from '../../lib/mail-failures.ts'
import { invite } from '../../lib/new-users.ts'
import { visible } from '../../lib/text.ts'

/** When the page looks again, in milliseconds: an invitation has just been asked for, and fails a little later. */
const LOOKS = [3000, 10_000, 30_000]

/** That the last mail to a user could not be sent, with a way to send it again. */
export function MailNotice({ id, name }: { readonly id: string; readonly name: string }) {
  const [loaded, again] = useLoaded(signal => loadMailFailures({ userId: id }, signal), [id])
  useEffect(() => {
    const timers = LOOKS.map(time => setTimeout(again, time))
    return () => {
      for (const timer of timers) clearTimeout(timer)
    }
  }, [id])
  const [failure] = loaded.state === 'ready' ? loaded.value : []
  if (!failure) return null
  const send = async (): Promise<void> => {
    if (await invite(name)) tell(t('mailRequested'))
    else tellBad(t('problem.unknown'))
    again()
  }
  return (
    <div class="notice bad stack" role="alert">
      <p>
        {t('mailFailed', { time: ago(failure.time) })} <span lang="en">{visible(failure.why)}</span>
      </p>
      <p>{t(failure.isTriedAgain ? 'mailTriedAgain' : 'mailGivenUp')}</p>
      {!failure.isTriedAgain && (
        <div class="buttons">
          <Button kind="quiet" size="small" onPress={send}>
            {t('mailSendAgain')}
          </Button>
        </div>
      )}
    </div>
  )
}
