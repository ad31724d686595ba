import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Choice, Field } from '../../components/field.tsx'
import { Form, FormError } from '../../components/form.tsx'
import { Await } from '../../components/page.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { tell } from '../../components/toast.tsx'
import { Problem } from '../../lib/api.ts'
import { dateTime, number, tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { changeLink, createLink, type NewPublicLink, type PublicLink } from '../../lib/public-links.ts'
import { GeneratePassword } from '../generate-password.tsx'
import { loadRules, NewPassword } from '../password-field.tsx'

const DAY = 86_400_000
const LIFETIMES = [7, 30, 90, 365] as const
const LIMITS = [1, 3, 10, 100] as const
const NONE = ''

interface NewLinkDialogProps {
  readonly context: string
  readonly entry: string
  readonly onCreated: () => void
  readonly onClose: () => void
}

/** Asks for the limits of a public link, and shows its address. */
export function NewLinkDialog({ context, entry, onCreated, onClose }: NewLinkDialogProps) {
  const [url, setUrl] = useState<string>()
  if (url !== undefined) {
    return (
      <ShownOnce title={t('linkCreated')} text={t('linkOnce')} label={t('publicLink')} value={url} onClose={onClose} />
    )
  }
  const create = async (wish: NewPublicLink): Promise<void> => {
    setUrl(await createLink(context, entry, wish))
    onCreated()
  }
  return (
    <Dialog title={t('createLink')} onClose={onClose}>
      <WishForm action={t('createLink')} onWish={create} onClose={onClose} />
    </Dialog>
  )
}

interface ChangeLinkDialogProps {
  readonly link: PublicLink
  readonly onChanged: () => void
  readonly onClose: () => void
}

/** Changes the limits of a public link; its address stays. */
export function ChangeLinkDialog({ link, onChanged, onClose }: ChangeLinkDialogProps) {
  const change = async (wish: NewPublicLink): Promise<void> => {
    await changeLink(link.id, wish)
    tell(t('saved'))
    onClose()
    onChanged()
  }
  return (
    <Dialog title={t('changeLink')} onClose={onClose}>
      <WishForm link={link} action={t('save')} onWish={change} onClose={onClose} />
    </Dialog>
  )
}

interface WishFormProps {
  /** The link that is changed. */
  readonly link?: PublicLink
  readonly action: string
  readonly onWish: (wish: NewPublicLink) => Promise<void>
  readonly onClose: () => void
}

/** A day that the person chooses. */
const ON_DAY = 'on day'
/** The expiry of a link as it is. */
const AS_IT_IS = 'as it is'

function WishForm({ link, action, onWish, onClose }: WishFormProps) {
  const [rules, again] = useLoaded(loadRules, [])
  const [days, setDays] = useState(link ? (link.expires === undefined ? NONE : AS_IT_IS) : '30')
  const [day, setDay] = useState('')
  const [limit, setLimit] = useState(link?.maxDownloads === undefined ? NONE : String(link.maxDownloads))
  const [name, setName] = useState(link?.name ?? '')
  const [password, setPassword] = useState('')
  const [removesPassword, setRemovesPassword] = useState(false)
  const expires = days === AS_IT_IS ? link?.expires : days === ON_DAY ? endOf(day) : expiryIn(days)
  const send = (): Promise<void> =>
    onWish({
      ...(name.trim() === '' ? {} : { name: name.trim() }),
      ...(removesPassword ? { password: '' } : password === '' ? {} : { password }),
      ...(expires === undefined ? {} : { expires }),
      ...(limit === NONE ? {} : { maxDownloads: Number(limit) }),
    })
  const limits = [...new Set([...LIMITS, ...(link?.maxDownloads === undefined ? [] : [link.maxDownloads])])]
  return (
    <Await loaded={rules} again={again}>
      {rules => (
        <Form work={send}>
          {problem => (
            <>
              <Choice
                label={t('linkLifetime')}
                value={days}
                options={[
                  ...(link?.expires === undefined
                    ? []
                    : [[AS_IT_IS, t('linkUntil', { time: dateTime(new Date(link.expires)) })] as const]),
                  ...LIFETIMES.map(count => [String(count), t('days', { count })] as const),
                  [ON_DAY, t('linkOnDay')] as const,
                  [NONE, t('linkForever')] as const,
                ]}
                onValue={setDays}
              />
              {days === ON_DAY && (
                <Field
                  label={t('linkLastDay')}
                  type="date"
                  value={day}
                  onValue={setDay}
                  min={isoDay(new Date())}
                  required
                />
              )}
              <Choice
                label={t('linkLimit')}
                value={limit}
                options={[
                  [NONE, t('linkNoLimit')] as const,
                  ...limits.sort((one, other) => one - other).map(count => [String(count), number(count)] as const),
                ]}
                onValue={setLimit}
              />
              <Field
                label={t('linkNote')}
                value={name}
                onValue={setName}
                hint={t('linkNoteHint')}
                maxLength={100}
                autocomplete="off"
              />
              {link?.hasPassword === true && (
                <label class="check">
                  <input
                    type="checkbox"
                    checked={removesPassword}
                    onChange={event => setRemovesPassword(event.currentTarget.checked)}
                  />
                  {t('linkNoPassword')}
                </label>
              )}
              {!removesPassword && (
                <>
                  <NewPassword
                    {...rules}
                    label={t(link?.hasPassword === true ? 'linkOtherPassword' : 'linkPassword')}
                    value={password}
                    onValue={setPassword}
                    error={isAboutPassword(problem) ? tellProblem(problem) : undefined}
                    problem={problem}
                    required={false}
                    isShown
                  />
                  <GeneratePassword password={password} onPassword={setPassword} />
                </>
              )}
              <FormError problem={isAboutPassword(problem) ? undefined : problem} />
              <DialogButtons onClose={onClose}>
                <Button type="submit">{action}</Button>
              </DialogButtons>
            </>
          )}
        </Form>
      )}
    </Await>
  )
}

/** As the browser's field for a day has it. */
const isoDay = (time: Date): string =>
  [time.getFullYear(), time.getMonth() + 1, time.getDate()].map(part => String(part).padStart(2, '0')).join('-')

/** The end of a day in the time zone of the person. */
const endOf = (day: string): string | undefined => (day === '' ? undefined : new Date(`${day}T23:59:59`).toISOString())

const expiryIn = (days: string): string | undefined =>
  days === NONE ? undefined : new Date(Date.now() + Number(days) * DAY).toISOString()

const isAboutPassword = (problem: unknown): boolean =>
  problem instanceof Problem && problem.code.startsWith('password-')
