from trytond.exceptions import UserError
from trytond.i18n import gettext
from trytond.model import Unique, fields
from trytond.pool import Pool, PoolMeta
from trytond.rpc import RPC
from trytond.transaction import Transaction

FIGURES = ['untaxed_amount', 'tax_amount', 'total_amount']


class TotalDiffers(UserError):
    pass


class Invoice(metaclass=PoolMeta):
    __name__ = 'account.invoice'

    external_id = fields.Char("External ID", readonly=True, select=True,
        help="The fuel platform's id of this invoice.")

    @classmethod
    def __setup__(cls):
        super().__setup__()
        table = cls.__table__()
        # The two sides of one invoice may be companies of one database.
        cls._sql_constraints.append(('external_id_unique',
                Unique(table, table.company, table.type, table.external_id),
                'fuelbridge_guard.msg_external_id_unique'))
        cls.__rpc__['fuelbridge_book'] = RPC(readonly=False)

    @classmethod
    def copy(cls, invoices, default=None):
        default = {} if default is None else default.copy()
        default.setdefault('external_id', None)
        return super().copy(invoices, default=default)

    @classmethod
    def fuelbridge_book(cls, documents, post, accept):
        """Create, compare with the expected figures, post: all or nothing.

        A document is the values of its invoice, with external_id, and the
        three figures that it must come to. accept: beginnings of the names of
        warnings that need no person, such as 'invoice_payment_term'.
        """
        ids = [i.id for i in cls.create([d['values'] for d in documents])]
        for invoice, document in zip(cls.browse(ids), documents):
            for figure in FIGURES:
                booked = getattr(invoice, figure)
                if booked != document[figure]:
                    raise TotalDiffers(gettext(
                            'fuelbridge_guard.msg_total_differs',
                            external_id=invoice.external_id, figure=figure,
                            booked=booked, expected=document[figure]))
        if post:
            cls._post_accepting(ids, accept)
        return ids

    @classmethod
    def _post_accepting(cls, ids, accept):
        Warning = Pool().get('res.user.warning')
        user = Transaction().user
        # A warning ends the transaction, and its name has an id of it: what
        # needs no person is accepted before it is asked for.
        names = ['%s_%d' % (name, id_) for name in accept for id_ in ids]
        Warning.create([{'user': user, 'name': name} for name in names])
        cls.post(cls.browse(ids))
        Warning.delete(Warning.search(
                [('user', '=', user), ('name', 'in', names)]))
