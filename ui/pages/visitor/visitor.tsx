import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Card, Page, ProblemNotice } from '../../components/page.tsx'
import { Toasts } from '../../components/toast.tsx'
import { Problem } from '../../lib/api.ts'
import { dateTime, number, tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { type OpenedLink, openLink } from '../../lib/public-links.ts'
import { visible } from '../../lib/text.ts'
import { LinkedFile } from './linked-file.tsx'
import { LinkedFolder } from './linked-folder.tsx'

/** What follows the number sign: it reaches no server and no log. */
const secretOfPage = (): string => decodeURIComponent(location.hash.slice(1))

/** What people without an account see of a public link. Nobody has to be signed in, and who is signed in does not count. */
export function Visitor() {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href
  const [secret, setSecret] = useState(secretOfPage)
  useEffect(() => {
    const look = (): void => setSecret(secretOfPage())
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [])
  return (
    <>
      <div class="upper">
        <header class="top">
          <div>
            <span class="brand">
              <img src={icon} alt="" width={28} height={28} />
              Stowage
            </span>
          </div>
        </header>
      </div>
      <Visit key={secret} secret={secret} />
      <Toasts />
    </>
  )
}

type State =
  | { readonly is: 'opening' }
  | { readonly is: 'locked' }
  | { readonly is: 'open'; readonly opened: OpenedLink }
  | { readonly is: 'refused'; readonly error: unknown }

function Visit({ secret }: { readonly secret: string }) {
  const [state, setState] = useState<State>({ is: 'opening' })
  const open = (): void => {
    openLink(secret).then(
      opened => setState({ is: 'open', opened }),
      (error: unknown) =>
        setState(
          error instanceof Problem && error.code === 'link-password-required'
            ? { is: 'locked' }
            : { is: 'refused', error },
        ),
    )
  }
  useEffect(open, [secret])
  const withPassword = async (password: string): Promise<void> =>
    setState({ is: 'open', opened: await openLink(secret, password) })
  if (state.is === 'opening') {
    return (
      <Page title={t('publicLink')}>
        <div role="status">
          <div class="spinner" />
          <span class="hidden">{t('loading')}</span>
        </div>
      </Page>
    )
  }
  if (state.is === 'locked') return <AskPassword onPassword={withPassword} />
  if (state.is === 'refused') return <Refused error={state.error} again={open} />
  return <Opened {...state.opened} />
}

/** What does not work now and never will says so; what may be over soon can be tried again. */
function Refused({ error, again }: { readonly error: unknown; readonly again: () => void }) {
  const isOver = error instanceof Problem && error.code.startsWith('link-')
  return (
    <Page title={t(isOver ? 'linkOver' : 'publicLink')}>
      {isOver ? (
        <p class="notice warn" role="alert">
          {tellProblem(error)}
        </p>
      ) : (
        <ProblemNotice error={error} again={again} />
      )}
    </Page>
  )
}

function AskPassword({ onPassword }: { readonly onPassword: (password: string) => Promise<void> }) {
  const [password, setPassword] = useState('')
  return (
    <Page title={t('publicLink')}>
      <Card title={t('linkLocked')}>
        <p>{t('linkLockedText')}</p>
        <Form work={() => onPassword(password)}>
          {problem => (
            <>
              <Field
                label={t('password')}
                type="password"
                autocomplete="off"
                value={password}
                onValue={setPassword}
                error={problem === undefined ? undefined : tellProblem(problem)}
                required
              />
              <div class="buttons">
                <Button type="submit">{t('linkOpen')}</Button>
              </div>
            </>
          )}
        </Form>
      </Card>
    </Page>
  )
}

function Opened({ link, item, expires, downloadsLeft }: OpenedLink) {
  const limits = [
    ...(expires === undefined ? [] : [t('linkUntil', { time: dateTime(new Date(expires)) })]),
    ...(downloadsLeft === undefined ? [] : [t('linkLeft', { count: number(downloadsLeft) })]),
  ]
  return (
    <Page title={visible(item.name)} lead={limits.length > 0 && limits.join(' · ')}>
      {item.kind === 'folder' ? (
        <LinkedFolder link={link} root={item} isLimited={downloadsLeft !== undefined} />
      ) : (
        <Card title={t('file')}>
          <LinkedFile link={link} item={item} isLimited={downloadsLeft !== undefined} />
        </Card>
      )}
    </Page>
  )
}
